#pragma once
// How the flags of a program are shown by --help.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace lope {

/// Shows `--name TYPE` and the description in two columns.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// The help text, the names that are allowed if there are such, and the default, broken into lines.
/// @param allowed what the flag may be, if that has to be said
/// @param default_value as JSON; null is left out
std::string option_description(std::string_view help, std::string_view allowed, std::string_view default_value);

}  // namespace lope
