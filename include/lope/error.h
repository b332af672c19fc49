#pragma once
// The one exception type of the library.
//
//   throw lope::Error("learning_rate is -1: it must be 0 or more; set --learning_rate 5e-5");
//   try { trainer.train(); } catch (const lope::Error& error) { std::cerr << error.what() << '\n'; }

#include <stdexcept>

namespace lope {

/// Says in one line what was given, what is allowed and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lope
