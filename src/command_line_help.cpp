#include "command_line_help.h"

#include <sstream>

namespace lope {
namespace {

constexpr std::size_t kNameColumn = 46;
constexpr std::size_t kTextColumn = 72;

std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string lines;
  std::size_t length = 0;
  for (std::string word; words >> word;) {
    const bool fits = length + 1 + word.size() <= kTextColumn;
    if (!lines.empty()) lines += fits ? ' ' : '\n';
    length = fits ? length + 1 + word.size() : word.size();
    lines += word;
  }
  return lines;
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kNameColumn); }

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool) const {
  return "--" + option->get_lnames().front();
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  return option->get_type_name().empty() ? "" : " " + option->get_type_name();
}

std::string option_description(std::string_view help, std::string_view allowed, std::string_view default_value) {
  std::string text{help};
  if (!allowed.empty()) text.append(" It is ").append(allowed).append(".");
  if (default_value != "null") text.append(" [").append(default_value).append("]");
  return wrapped(text);
}

}  // namespace lope
