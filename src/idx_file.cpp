#include "lope/idx_file.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "gzip_file.h"
#include "lope/error.h"

namespace lope {
namespace {

[[noreturn]] void fail_no_idx(const std::string& path, std::span<const std::byte> magic) {
  std::vector<int> values;
  for (const std::byte value : magic) values.push_back(std::to_integer<int>(value));
  throw Error(
      fmt::format("{} is no IDX file: it begins with the bytes {:02x}, not with 00 00, a type (08, 09, 0b, 0c, 0d or "
                  "0e) and the number of dimensions",
                  path, fmt::join(values, " ")));
}

/// Reads exactly `to`, which is a part of the header.
void read_header(GzipFile& file, const std::string& path, std::span<std::byte> to) {
  if (file.read(to) < to.size()) throw Error(fmt::format("{} is cut short: its header is not whole", path));
}

std::optional<at::ScalarType> type_of(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08:
      return at::kByte;
    case 0x09:
      return at::kChar;
    case 0x0b:
      return at::kShort;
    case 0x0c:
      return at::kInt;
    case 0x0d:
      return at::kFloat;
    case 0x0e:
      return at::kDouble;
    default:
      return std::nullopt;
  }
}

std::vector<int64_t> read_shape(GzipFile& file, const std::string& path, size_t dimensions) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < dimensions; ++i) {
    std::array<std::byte, 4> bytes{};
    read_header(file, path, bytes);
    int64_t size = 0;
    for (const std::byte byte : bytes) size = size << 8 | std::to_integer<int64_t>(byte);
    shape.push_back(size);
  }
  return shape;
}

/// The bytes of a tensor of this shape, as far as a file of `most` can hold them.
uint64_t count_bytes(const std::string& path, const std::vector<int64_t>& shape, size_t width, uint64_t most) {
  uint64_t bytes = width;
  for (const int64_t size : shape) {
    if (size != 0 && bytes > most / static_cast<uint64_t>(size)) {
      throw Error(fmt::format("{} is cut short: its header says ({}) elements of {} bytes, which it is too small for",
                              path, fmt::join(shape, ", "), width));
    }
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

/// IDX is big-endian.
void swap_bytes(std::span<std::byte> data, size_t width) {
  for (size_t i = 0; width > 1 && i < data.size(); i += width) std::ranges::reverse(data.subspan(i, width));
}

}  // namespace

at::Tensor read_idx(const std::string& path) {
  GzipFile file(path);
  std::array<std::byte, 4> magic{};
  read_header(file, path, magic);
  const auto type = type_of(magic[2]);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || magic[3] == std::byte{0} || !type) {
    fail_no_idx(path, magic);
  }
  const auto shape = read_shape(file, path, std::to_integer<size_t>(magic[3]));
  const size_t width = c10::elementSize(*type);
  const uint64_t bytes = count_bytes(path, shape, width, file.most_bytes());

  at::Tensor tensor = at::empty(shape, *type);
  const std::span data(static_cast<std::byte*>(tensor.mutable_data_ptr()), bytes);
  const size_t got = file.read(data);
  std::byte more{};
  const bool too_long = got == bytes && file.read({&more, 1}) != 0;
  if (got < bytes || too_long) {
    throw Error(fmt::format("{} {}: its header says ({}) elements, which are {} bytes, but it has {}", path,
                            too_long ? "is too long" : "is cut short", fmt::join(shape, ", "), bytes,
                            too_long ? "more" : fmt::format("only {}", got)));
  }
  swap_bytes(data, width);
  return tensor;
}

}  // namespace lope
