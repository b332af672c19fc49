#pragma once
// JSON as Python's json module reads and writes it: NaN, Infinity and -Infinity are numbers.
//
//   to_python_json(parse_python_json(R"({"loss": NaN})"));  // the same text again

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "argument_json.h"

namespace lope {

/// @throws Error in one line when the text is not JSON, or is nested deeper than a hundred levels
Json parse_python_json(std::string_view text);

/// As json.dumps(value, indent=2, sort_keys=True), without a line break at the end.
std::string to_python_json(const nlohmann::json& value);

/// As Python's repr: "0.1", "5e-05", "100000.0", "NaN".
std::string python_number(double value);

/// In quotes, with everything but ASCII escaped.
std::string python_string(std::string_view text);

}  // namespace lope
