#pragma once
// Tensors in the .safetensors format, which the Python packages read and write too.
//
//   lope::save_safetensors("out/model.safetensors", {{"weight", weight}});
//   lope::SafetensorsFile file("out/model.safetensors");
//   at::Tensor again = file.tensor("weight");

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lope/safetensors_header.h"
#include "lope/tensor_map.h"

namespace lope {

class MappedFile;

/// A file for reading. Tensors are views of the mapped file: nothing is read before it is used, and the mapping lives
/// as long as any of them. Writing into one changes the memory of this process, never the file.
class SafetensorsFile {
 public:
  /// Maps the file and checks its header (see parse_safetensors); throws Error naming the path.
  explicit SafetensorsFile(std::string path);

  const std::string& path() const { return path_; }

  /// Names, dtypes and shapes, in the order of their bytes.
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  bool contains(const std::string& name) const { return index_.contains(name); }

  /// A CPU tensor, contiguous. Copied only where the file puts it at an address that its dtype cannot have.
  /// Throws Error when the file has no such name, or holds bytes other than 0 and 1 for BOOL.
  at::Tensor tensor(const std::string& name) const;

  TensorMap tensors() const;

 private:
  at::Tensor view(const SafetensorsEntry& entry) const;

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  SafetensorsHeader header_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Writes all of `tensors` (any device, strided, each name as given, shared storage once per name) and replaces the
/// file only when the new one is whole; see AtomicFile. Needs memory for the largest tensor that is not contiguous on
/// the CPU, else none. The metadata {"format": "pt"} is what the Python package transformers asks for.
/// Throws Error naming the path, and the tensor where one is at fault.
void save_safetensors(const std::string& path, const TensorMap& tensors,
                      const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace lope
