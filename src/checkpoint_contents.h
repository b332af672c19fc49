#pragma once
// What a checkpoint holds, file by file, and copies of it that training does not touch.

#include <filesystem>
#include <map>
#include <string>

#include "lope/tensor_map.h"

namespace lope {

struct CheckpointContents {
  /// By the name of the .safetensors file.
  std::map<std::string, TensorMap> tensors = {};
  std::map<std::string, std::string> texts = {};
};

/// Writes a whole checkpoint; nothing has the folder's name before.
void write_checkpoint(const std::filesystem::path& folder, const CheckpointContents& contents);

/// Copies of tensors in host memory that is kept from one save to the next, so that a save costs one copy of the state
/// and no new pages.
class HostCopies {
 public:
  /// The same names, copied; valid until the next call.
  std::map<std::string, TensorMap> copy(const std::map<std::string, TensorMap>& live);

 private:
  std::map<std::string, TensorMap> buffers_;
};

}  // namespace lope
