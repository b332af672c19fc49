#include "checkpoint_saver.h"

#include <chrono>
#include <utility>

#include "lope/checkpoints.h"
#include "lope/error.h"

namespace lope {
namespace {

SaveOutcome write(const std::filesystem::path& folder, const CheckpointContents& contents,
                  std::vector<std::filesystem::path> kept, std::optional<int64_t> limit) {
  try {
    write_checkpoint(folder, contents);
    kept.push_back(folder);
    if (limit) rotate_checkpoints(folder.parent_path(), *limit, kept);
    return {folder, {}};
  } catch (const std::exception& error) {
    return {folder, first_line(error.what())};
  }
}

}  // namespace

void CheckpointSaver::save(const std::filesystem::path& folder, CheckpointContents contents,
                           std::vector<std::filesystem::path> kept) {
  wait();
  if (!settings_.in_background) {
    outcomes_.push_back(write(folder, contents, std::move(kept), settings_.limit));
    return;
  }
  contents.tensors = copies_.copy(contents.tensors);
  writing_ = std::async(std::launch::async, [folder, contents = std::move(contents), kept = std::move(kept),
                                             limit = settings_.limit] { return write(folder, contents, kept, limit); });
}

void CheckpointSaver::wait() {
  if (writing_.valid()) collect();
}

void CheckpointSaver::collect() { outcomes_.push_back(writing_.get()); }

std::vector<SaveOutcome> CheckpointSaver::take_outcomes() {
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) collect();
  return std::exchange(outcomes_, {});
}

}  // namespace lope
