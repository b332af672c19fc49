#pragma once
// Named extra arguments, such as those of a schedule or an optimizer.
//
//   ArgumentMap kwargs = {{"num_cycles", 2.0}, {"decay_type", "cosine"}};
//   ArgumentMap same = parse_argument_map("lr_scheduler_kwargs", "num_cycles=2,decay_type=cosine");

#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace lope {

/// A number, a text or a truth value. Every number is a double.
using ArgumentValue = std::variant<double, std::string, bool>;

/// Values by name, in the order of the names.
using ArgumentMap = std::map<std::string, ArgumentValue, std::less<>>;

/// Reads `name=value,name=value` or a JSON object of numbers, strings and booleans; a JSON null is left out.
/// In the first form `true` and `false` are booleans, what reads as a number is one, and the rest is text.
/// @param owner the argument that holds the text, named in errors
/// @throws Error when the text has neither form
ArgumentMap parse_argument_map(std::string_view owner, std::string_view text);

}  // namespace lope
