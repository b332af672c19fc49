#pragma once
// IDX files made of numbers, for tests.
//
//   write_text(folder / "t10k-labels-idx1-ubyte", idx_bytes(0x08, {3}, "\x01\x02\x03"));

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lope::testing {

/// The file with this type and shape; `data` is as it stands in the file.
inline std::string idx_bytes(char type, const std::vector<uint32_t>& shape, std::string_view data) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const uint32_t size : shape) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(size >> shift & 0xff));
  }
  return bytes.append(data);
}

}  // namespace lope::testing
