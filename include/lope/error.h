#pragma once
// The one exception type of the library.
//
//   throw lope::Error("learning_rate is -1: it must be 0 or more; set --learning_rate 5e-5");
//   try { trainer.train(); } catch (const lope::Error& error) { std::cerr << error.what() << '\n'; }

#include <stdexcept>
#include <string>
#include <string_view>

namespace lope {

/// Says in one line what was given, what is allowed and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The text up to the first line break: LibTorch's own errors carry a stack trace behind it.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace lope
