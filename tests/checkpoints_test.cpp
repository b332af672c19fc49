#include "lope/checkpoints.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lope/checkpoint_folder.h"
#include "support/temporary_folder.h"

namespace lope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

void make_checkpoint(const std::string& folder, bool with_progress = true) {
  CheckpointWriter writer(folder);
  writer.write_text("notes.txt", "whole");
  if (with_progress) writer.write_text("progress.json", "{}");
  writer.commit();
}

std::vector<int64_t> steps(const std::filesystem::path& folder) {
  std::vector<int64_t> found;
  for (const auto& entry : list_checkpoints(folder)) found.push_back(entry.step);
  return found;
}

TEST(Checkpoints, AreListedByTheirStepAndNothingElseIs) {
  const TemporaryFolder folder;
  for (const char* name : {"checkpoint-100", "checkpoint-20", "checkpoint-3", "checkpoint-", "checkpoint-04",
                           "checkpoint-7b", "checkpoint--1", ".checkpoint-5.1-0.tmp", "other"}) {
    std::filesystem::create_directory(folder.path() / name);
  }
  write_text(folder / "checkpoint-9", "a file");
  EXPECT_THAT(steps(folder.path()), ElementsAre(3, 20, 100));
  EXPECT_THAT(steps(folder.path() / "nowhere"), IsEmpty());
}

TEST(Checkpoints, TheNewestWholeOneIsFoundAndTheOthersAreNamed) {
  const TemporaryFolder folder;
  for (const char* name : {"checkpoint-1", "checkpoint-2", "checkpoint-3"}) make_checkpoint(folder / name);
  make_checkpoint(folder / "checkpoint-4", /*with_progress=*/false);
  write_text(folder / "checkpoint-3/notes.txt", "whale");
  std::filesystem::create_directory(folder.path() / "checkpoint-5");
  const FoundCheckpoint found = find_newest_checkpoint(folder.path());
  EXPECT_EQ(found.folder, folder.path() / "checkpoint-2");
  EXPECT_THAT(found.passed_over, ElementsAre(StartsWith((folder / "checkpoint-5") + " is passed over: manifest.json: "),
                                             (folder / "checkpoint-4") +
                                                 " is passed over: it has no progress.json (as with save_only_model)",
                                             HasSubstr("checkpoint-3 is passed over: notes.txt: ")));
}

TEST(Checkpoints, NoneIsFoundInAnEmptyFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(find_newest_checkpoint(folder.path()).folder, std::nullopt);
}

TEST(Checkpoints, RotationRemovesTheOldestButKeepsTheNewestAndTheNamedOnes) {
  const TemporaryFolder folder;
  for (const char* name : {"checkpoint-1", "checkpoint-2", "checkpoint-3", "checkpoint-4"}) {
    make_checkpoint(folder / name);
  }
  rotate_checkpoints(folder.path(), 3, {folder.path() / "checkpoint-1"});
  EXPECT_THAT(steps(folder.path()), ElementsAre(1, 3, 4));
  rotate_checkpoints(folder.path(), 1, {folder.path() / "checkpoint-1"});
  EXPECT_THAT(steps(folder.path()), ElementsAre(1, 4));
  rotate_checkpoints(folder.path(), 1, {});
  EXPECT_THAT(steps(folder.path()), ElementsAre(4));
  rotate_checkpoints(folder.path(), 1, {});
  EXPECT_THAT(steps(folder.path()), ElementsAre(4));
}

}  // namespace
}  // namespace lope::testing
