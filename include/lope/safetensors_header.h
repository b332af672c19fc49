#pragma once
// The first part of a .safetensors file: which tensors it holds and where. It is text from anyone, so every number in
// it is checked against the file before it is used.
//
//   auto header = lope::parse_safetensors(bytes, "model.safetensors");
//   for (const auto& entry : header.entries) use(bytes.subspan(entry.begin, entry.size()));
//
// Format: https://github.com/huggingface/safetensors, 8 bytes length, a JSON object, then the tensors' bytes.

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lope {

struct SafetensorsEntry {
  std::string name;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<std::int64_t> shape;
  std::size_t begin = 0;  ///< first byte, counted from the start of the file
  std::size_t end = 0;    ///< one past the last byte

  std::size_t size() const { return end - begin; }
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Reads the header of the file whose bytes are `file`; `path` is only for messages. Afterwards the entries have
/// distinct names, fill the rest of the file without hole or overlap, and each is as long as its shape and dtype say.
/// Throws Error otherwise. Needs memory in proportion to the header, at most 100 MB of it, whatever the header claims.
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& path);

}  // namespace lope
