#pragma once
// Saves checkpoints of a run one after the other, at once or in a thread.
//
//   CheckpointSaver saver({.in_background = true, .limit = 2});
//   saver.save("run/checkpoint-500", contents, {best});
//   for (const SaveOutcome& outcome : saver.take_outcomes()) ...      // errors are outcomes, never lost

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint_contents.h"

namespace lope {

struct SaveOutcome {
  std::filesystem::path folder;
  /// Why it could not be saved; empty when it is whole.
  std::string error;
};

struct CheckpointSaverSettings {
  bool in_background = true;
  /// Checkpoints that are kept; nullopt: all.
  std::optional<int64_t> limit = std::nullopt;
};

/// At most one save is in flight: the next one waits for it, and so does the destructor.
class CheckpointSaver {
 public:
  explicit CheckpointSaver(CheckpointSaverSettings settings) : settings_(settings) {}

  /// Copies the tensors when it writes in a thread. Older checkpoints beyond the limit are removed once this one is
  /// whole; those of `kept` never.
  void save(const std::filesystem::path& folder, CheckpointContents contents, std::vector<std::filesystem::path> kept);
  /// Waits for the save in flight.
  void wait();
  /// What has ended since the last call, in order. Does not wait.
  std::vector<SaveOutcome> take_outcomes();

 private:
  void collect();

  CheckpointSaverSettings settings_;
  HostCopies copies_;
  std::vector<SaveOutcome> outcomes_;
  std::future<SaveOutcome> writing_;
};

}  // namespace lope
