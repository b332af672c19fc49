#pragma once
// The checkpoints of a run: folders called checkpoint-<step> in its output_dir.
//
//   for (const lope::CheckpointEntry& entry : lope::list_checkpoints("run")) use(entry.step, entry.folder);
//   lope::FoundCheckpoint found = lope::find_newest_checkpoint("run");      // the newest that is whole

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lope {

struct CheckpointEntry {
  int64_t step = 0;
  std::filesystem::path folder;
};

/// Those in `output_dir`, oldest first; none where there is no such folder. Looks at names only.
std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& output_dir);

struct FoundCheckpoint {
  std::optional<std::filesystem::path> folder;
  /// One line for each newer one that was passed over: which, which file, and why.
  std::vector<std::string> passed_over;
};

/// The newest whole checkpoint that has all files of `needed`: by default those that a Trainer goes on from.
FoundCheckpoint find_newest_checkpoint(const std::filesystem::path& output_dir,
                                       const std::vector<std::string>& needed = {"progress.json"});

/// Removes the oldest until `limit` are left; never the newest, nor those of `kept`. Throws Error when one cannot be
/// removed.
void rotate_checkpoints(const std::filesystem::path& output_dir, int64_t limit,
                        const std::vector<std::filesystem::path>& kept);

}  // namespace lope
