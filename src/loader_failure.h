#pragma once
// Runs user code of a data set and turns whatever it throws into an Error that says where.

#include <string>
#include <utility>

#include "lope/error.h"

namespace lope {

/// `where` is called only when `body` throws.
template <typename Body, typename Where>
auto naming_the_place(Body&& body, Where&& where) {
  try {
    return body();
  } catch (const std::exception& error) {
    throw Error(where() + ": " + first_line(error.what()));
  } catch (...) {
    throw Error(where() + ": an exception of unknown type");
  }
}

}  // namespace lope
