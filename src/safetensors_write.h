#pragma once
// The .safetensors format as a sequence of bytes, for whoever takes them: a file, a file with a checksum.

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "lope/tensor_map.h"

namespace lope {

using ByteSink = std::function<void(std::span<const std::byte>)>;

/// As save_safetensors; `path` is for messages only. Errors in names and dtypes come before the first byte.
void write_safetensors(const ByteSink& sink, const std::string& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace lope
