#include "lope/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "lope/error.h"
#include "safetensors_format.h"
#include "safetensors_header_reader.h"

namespace lope {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostDimensions = 64;  // of torch's kernels

using safetensors::in_quotes;
using safetensors::kMostHeaderBytes;

std::size_t header_length(std::span<const std::byte> file) {
  static_assert(std::endian::native == std::endian::little, "the format is little-endian");
  if (file.size() < kLengthBytes) {
    throw Error(fmt::format("it has {} bytes, too few for a safetensors file", file.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMostHeaderBytes) {
    throw Error(fmt::format("it claims a header of {} bytes, but at most {} are allowed", length, kMostHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    throw Error(fmt::format("it claims a header of {} bytes, but only {} follow; it may be cut short", length,
                            file.size() - kLengthBytes));
  }
  return static_cast<std::size_t>(length);
}

/// Bytes of a tensor of this shape. Overflow is refused even where another dimension is 0, since strides multiply too.
std::size_t byte_size(const SafetensorsEntry& entry) {
  std::uint64_t bytes = c10::elementSize(entry.dtype);
  bool empty = false;
  for (const std::int64_t size : entry.shape) {
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
    if (factor > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / bytes) {
      throw Error(fmt::format("tensor {} is too large: its shape [{}] overflows", in_quotes(entry.name),
                              fmt::join(entry.shape, ", ")));
    }
    bytes *= factor;
    empty = empty || size == 0;
  }
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

void check_extent(const SafetensorsEntry& entry, std::size_t data_bytes) {
  if (entry.shape.size() > kMostDimensions) {
    throw Error(fmt::format("tensor {} has {} dimensions, but at most {} are allowed", in_quotes(entry.name),
                            entry.shape.size(), kMostDimensions));
  }
  if (entry.begin > entry.end || entry.end > data_bytes) {
    throw Error(
        fmt::format("tensor {} has data_offsets [{}, {}], outside the {} bytes of data; the file may be cut short",
                    in_quotes(entry.name), entry.begin, entry.end, data_bytes));
  }
  if (const std::size_t expected = byte_size(entry); expected != entry.size()) {
    throw Error(fmt::format("tensor {} of shape [{}] and dtype {} needs {} bytes, but its data_offsets span {}",
                            in_quotes(entry.name), fmt::join(entry.shape, ", "), c10::toString(entry.dtype), expected,
                            entry.size()));
  }
}

void check_layout(const std::vector<SafetensorsEntry>& entries, std::size_t data_bytes) {
  std::size_t position = 0;
  for (const SafetensorsEntry& entry : entries) {
    check_extent(entry, data_bytes);
    if (entry.begin != position) {
      throw Error(fmt::format("tensor {} begins at byte {} of the data, but the one before ends at {}: {}",
                              in_quotes(entry.name), entry.begin, position,
                              entry.begin < position ? "they overlap" : "there is a hole"));
    }
    position = entry.end;
  }
  if (position != data_bytes) {
    throw Error(fmt::format("its tensors end at byte {} of the data, but there are {}", position, data_bytes));
  }
}

SafetensorsHeader read_json(std::span<const std::byte> text) {
  safetensors::HeaderReader reader;
  const auto* const begin = reinterpret_cast<const char*>(text.data());
  if (text.empty() || *begin != '{') throw Error("its header must begin with {; it is not a safetensors file");
  nlohmann::json::sax_parse(begin, begin + text.size(), &reader);
  return reader.take();
}

SafetensorsHeader read_header(std::span<const std::byte> file) {
  const std::size_t data = kLengthBytes + header_length(file);
  SafetensorsHeader header = read_json(file.subspan(kLengthBytes, data - kLengthBytes));
  std::ranges::stable_sort(header.entries, {}, [](const auto& entry) { return std::pair(entry.begin, entry.end); });
  check_layout(header.entries, file.size() - data);
  for (SafetensorsEntry& entry : header.entries) {
    entry.begin += data;
    entry.end += data;
  }
  return header;
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  try {
    return read_header(file);
  } catch (const Error& error) {
    throw Error(fmt::format("cannot read {}: {}", path, error.what()));
  }
}

}  // namespace lope
