#pragma once
// Reads named extra arguments, and refuses those that are wrong or that nobody asked for.
//
//   ArgumentReader reader("lr_scheduler_kwargs", "polynomial", arguments);
//   double power = reader.number("power", 1.0, above(0));
//   reader.finish();  // throws when an argument is left over

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argument_value.h"
#include "lope/argument_map.h"

namespace lope {

/// Every error names the argument, what was given and what is allowed.
class ArgumentReader {
 public:
  /// `owner` is the field that holds the arguments and `user` what they are for, as errors name them. All outlive the
  /// reader.
  ArgumentReader(std::string_view owner, std::string_view user, const ArgumentMap& arguments)
      : owner_(owner), user_(user), arguments_(arguments) {}

  double number(std::string_view name, double otherwise, const Allowed& allowed);
  std::optional<double> number(std::string_view name, const Allowed& allowed);
  int64_t whole(std::string_view name, int64_t otherwise, const Allowed& allowed);
  std::optional<int64_t> whole(std::string_view name, const Allowed& allowed);
  bool truth(std::string_view name, bool otherwise);
  std::string text(std::string_view name, std::string_view otherwise, std::span<const std::string_view> names);

  /// Throws Error for an argument that was not asked for, naming those that were.
  void finish() const;

 private:
  const ArgumentValue* find(std::string_view name);
  [[noreturn]] void refuse(std::string_view name, const std::string& allowed) const;

  std::string_view owner_;
  std::string_view user_;
  const ArgumentMap& arguments_;
  std::vector<std::string_view> asked_;
};

}  // namespace lope
