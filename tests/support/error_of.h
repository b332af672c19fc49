#pragma once
// The message of the lope::Error that a call throws, so that a test can compare it whole.
//
//   EXPECT_EQ(error_of([] { lope::MappedFile::open("/no"); }), "cannot read /no: ...");

#include <string>

#include "lope/error.h"

namespace lope::testing {

template <typename Function>
std::string error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace lope::testing
