#pragma once
// A folder of files that has its final name only when it is whole, with a checksum of each file.
//
//   lope::CheckpointWriter writer("run/checkpoint-500");
//   writer.write_tensors("model.safetensors", model.state());
//   writer.write_text("trainer_state.json", text);
//   writer.commit();
//   lope::CheckpointReader reader("run/checkpoint-500");      // throws where a byte differs
//   lope::TensorMap weights = reader.tensors("model.safetensors");
//
// Until commit() the files are in a hidden folder beside it, which the destructor removes. The last file written is
// manifest.json: {"format": "lope-checkpoint", "version": 1, "files": {"NAME": {"bytes": N, "xxh3_64": "16 hex
// digits"}}}.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lope/safetensors.h"
#include "lope/tensor_map.h"

namespace lope {

/// Writes one checkpoint. Not for several threads at once.
class CheckpointWriter {
 public:
  /// Makes the temporary folder, and the folders above it. Throws Error naming the folder and the system's reason.
  explicit CheckpointWriter(std::filesystem::path folder);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Adds a file. `name` has no folder part and is not manifest.json. Throws Error naming the file and the system's
  /// reason (disk full, quota); then the writer can only be destroyed.
  void write_text(const std::string& name, std::string_view text);
  /// Adds a .safetensors file; see save_safetensors.
  void write_tensors(const std::string& name, const TensorMap& tensors,
                     const std::map<std::string, std::string>& metadata = {{"format", "pt"}});
  /// Forces all to the disk, writes the manifest, and gives the folder its name. A folder that had the name before is
  /// replaced: it is there until the new one is whole.
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A file of a checkpoint that is not as it was written.
struct CheckpointDamage {
  std::string file;    ///< name within the folder
  std::string reason;  ///< "its checksum is ..., the manifest says ..."
};

/// Reads every byte of the files that the manifest names and compares; nullopt when all is as it was written.
std::optional<CheckpointDamage> find_damage(const std::filesystem::path& folder);

/// Removes what killed processes have left in `parent`: hidden folders of this writer whose process is gone. One that
/// was being replaced when its process was killed gets its name back.
void remove_unfinished(const std::filesystem::path& parent);

/// Removes a checkpoint: it loses its name first, so that no half of it is ever left under it. Throws Error.
void remove_checkpoint(const std::filesystem::path& folder);

/// A checkpoint for reading, whole when the constructor returns.
class CheckpointReader {
 public:
  /// Checks sizes and checksums of all files. Throws Error naming folder, file and reason.
  explicit CheckpointReader(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  bool contains(const std::string& name) const { return sizes_.contains(name); }
  /// The whole file. Throws Error when the checkpoint has no such file.
  std::string text(const std::string& name) const;
  /// Views of the mapped file: see SafetensorsFile.
  TensorMap tensors(const std::string& name) const;

 private:
  std::string path_of(const std::string& name) const;

  std::filesystem::path folder_;
  std::map<std::string, std::uint64_t> sizes_;
};

}  // namespace lope
