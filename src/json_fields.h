#pragma once
// Fields of a JSON object that came from a file, with errors that name them.
//
//   read_field(json, "global_step", state.global_step);       // left as it is where the object has none
//   need_field(json, "progress", "progress.json");

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "argument_json.h"

namespace lope {

inline std::string type_text(const bool*) { return "true or false"; }
inline std::string type_text(const double*) { return "a number"; }
inline std::string type_text(const int64_t*) { return "a whole number"; }
inline std::string type_text(const std::string*) { return "a text"; }
template <typename T>
std::string type_text(const std::optional<T>*) {
  return type_text(static_cast<const T*>(nullptr)) + " or null";
}

/// @throws Error "NAME is VALUE: it must be ALLOWED"
[[noreturn]] void refuse_field(std::string_view name, const Json& value, std::string_view allowed);

/// @throws Error when `json` is not an object or lacks `name`: then it is not a whole `file`
const Json& need_field(const Json& json, std::string_view name, std::string_view file);

/// Reads a field where there is one. @throws Error when it is of another type
template <typename T>
void read_field(const Json& json, std::string_view name, T& value) {
  const auto found = json.find(name);
  if (found != json.end() && !read_json(*found, value)) {
    refuse_field(name, *found, type_text(static_cast<const T*>(nullptr)));
  }
}

}  // namespace lope
