#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace lope {
namespace {

constexpr int kUsualWidth = 80;

int descriptor_of(const std::ostream& stream) {
  if (&stream == &std::cerr || &stream == &std::clog) return STDERR_FILENO;
  return &stream == &std::cout ? STDOUT_FILENO : -1;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(const std::ostream& stream) {
  const int descriptor = descriptor_of(stream);
  const std::string_view kind = environment("TERM");
  return descriptor >= 0 && ::isatty(descriptor) == 1 && !kind.empty() && kind != "dumb";
}

int terminal_width(const std::ostream& stream) {
  winsize size{};
  const int descriptor = descriptor_of(stream);
  const bool known = descriptor >= 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualWidth;
}

bool locale_is_utf8() {
  std::string name;
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (name.empty()) name = environment(variable);
  }
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

bool colour_is_unwanted() { return !environment("NO_COLOR").empty(); }

}  // namespace lope
