#pragma once
// Finds what somebody meant to write.
//
//   nearest_name("learning_rat", names);  // "learning_rate"
//   did_you_mean("learning_rat", names);  // "; did you mean learning_rate?"

#include <string>
#include <string_view>
#include <vector>

namespace lope {

/// The name that needs the fewest changed letters, or that holds `given` as a part; empty when none is near.
std::string_view nearest_name(std::string_view given, const std::vector<std::string_view>& names);

/// The nearest name as the end of an error message, with `prefix` before it; empty when none is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string_view>& names,
                         std::string_view prefix = "");

}  // namespace lope
