#pragma once
// Fields of the Python class that Lope does not have: files that hold them with their default can still be read.

#include <string_view>

namespace lope {

struct PythonOnlyArgument {
  std::string_view name;
  std::string_view accepted;  ///< JSON list of the values that ask for nothing that Lope does not do; null is too
};

/// Null when the Python class has no such field, or Lope has it too.
const PythonOnlyArgument* find_python_only_argument(std::string_view name);

/// What older versions of the Python class called a field, as advice; empty for any other name.
std::string_view advice_for_old_name(std::string_view name);

}  // namespace lope
