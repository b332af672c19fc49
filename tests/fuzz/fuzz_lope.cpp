// For libFuzzer: the first byte of an input chooses the format, the others are the file.

#include <lope/error.h>

#include <cstddef>
#include <cstdint>

#include "formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& formats = fuzz::formats();
  try {
    formats[data[0] % formats.size()].read(std::as_bytes(std::span(data + 1, size - 1)));
  } catch (const lope::Error&) {
    return 0;  // how bad files are refused
  }
  return 0;
}
