#include "lope/checkpoint_folder.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../src/checkpoint_names.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

void write_checkpoint(const std::filesystem::path& folder, const std::string& text = "text") {
  CheckpointWriter writer(folder);
  writer.write_tensors("model.safetensors", {{"w", at::arange(5)}});
  writer.write_text("notes.txt", text);
  writer.commit();
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& item : std::filesystem::directory_iterator(folder)) names.push_back(item.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string damage_of(const std::filesystem::path& folder) {
  const auto damage = find_damage(folder);
  return damage ? damage->file + ": " + damage->reason : "none";
}

TEST(CheckpointFolder, HoldsWhatWasWritten) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "a/b/checkpoint-1");
  EXPECT_THAT(names_in(folder.path() / "a/b"), ElementsAre("checkpoint-1"));
  EXPECT_THAT(names_in(folder.path() / "a/b/checkpoint-1"),
              ElementsAre("manifest.json", "model.safetensors", "notes.txt"));
  const CheckpointReader reader(folder.path() / "a/b/checkpoint-1");
  EXPECT_TRUE(reader.tensors("model.safetensors").at("w").equal(at::arange(5)));
  EXPECT_EQ(reader.text("notes.txt"), "text");
  EXPECT_TRUE(reader.contains("notes.txt"));
  EXPECT_FALSE(reader.contains("optimizer.safetensors"));
  EXPECT_EQ(error_of([&] { reader.text("other.txt"); }),
            "checkpoint " + (folder / "a/b/checkpoint-1") + " has no file other.txt");
}

TEST(CheckpointFolder, HasNoNameBeforeItIsWholeAndLeavesNothingWhenGivenUp) {
  const TemporaryFolder folder;
  {
    CheckpointWriter writer(folder.path() / "checkpoint-1");
    writer.write_text("notes.txt", "half");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "checkpoint-1"));
    EXPECT_EQ(names_in(folder.path()).size(), 1);
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(CheckpointFolder, HoldsLargeTensorsThatAreHashedWhileTheyAreWritten) {
  const TemporaryFolder folder;
  constexpr int64_t kElements = 3'000'001;
  {
    CheckpointWriter writer(folder.path() / "checkpoint-1");
    writer.write_tensors("model.safetensors", {{"large", at::arange(kElements)}, {"small", at::ones({3})}});
    writer.commit();
  }
  const CheckpointReader reader(folder.path() / "checkpoint-1");  // compares the checksums
  EXPECT_TRUE(reader.tensors("model.safetensors").at("large").equal(at::arange(kElements)));
}

TEST(CheckpointFolder, ReplacesOneOfTheSameName) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "checkpoint-1", "old");
  write_checkpoint(folder.path() / "checkpoint-1", "new");
  EXPECT_EQ(CheckpointReader(folder.path() / "checkpoint-1").text("notes.txt"), "new");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint-1"));
}

TEST(CheckpointFolder, TellsWhatIsDamaged) {
  const TemporaryFolder folder;
  const auto checkpoint = folder.path() / "checkpoint-1";
  EXPECT_EQ(damage_of(checkpoint), "manifest.json: it is missing: the folder is not a whole checkpoint");
  write_checkpoint(checkpoint);
  EXPECT_EQ(damage_of(checkpoint), "none");
  write_text(checkpoint / "own_note.txt", "somebody's");
  EXPECT_EQ(damage_of(checkpoint), "none");
  write_text(checkpoint / "notes.txt", "next");
  EXPECT_THAT(damage_of(checkpoint),
              MatchesRegex("notes.txt: its checksum is [0-9a-f]{16}, the manifest says [0-9a-f]{16}"));
  write_text(checkpoint / "notes.txt", "longer");
  EXPECT_EQ(damage_of(checkpoint), "notes.txt: it has 6 bytes, the manifest says 4");
  std::filesystem::remove(checkpoint / "notes.txt");
  EXPECT_EQ(damage_of(checkpoint), "notes.txt: it is missing or no file");
  std::filesystem::create_symlink("/etc/hostname", checkpoint / "notes.txt");
  EXPECT_EQ(damage_of(checkpoint), "notes.txt: it is missing or no file");
  EXPECT_EQ(error_of([&] { CheckpointReader reader(checkpoint); }),
            "checkpoint " + checkpoint.string() + ": notes.txt: it is missing or no file; use an earlier one");
}

TEST(CheckpointFolder, RefusesNamesThatAreNoFilesOfItsOwn) {
  const TemporaryFolder folder;
  CheckpointWriter writer(folder.path() / "checkpoint-1");
  for (const char* name : {"", ".", "..", "a/b", "/etc/passwd", "manifest.json"}) {
    EXPECT_THAT(error_of([&] { writer.write_text(name, ""); }), HasSubstr("give each file a name of its own")) << name;
  }
  writer.write_text("notes.txt", "");
  EXPECT_THAT(error_of([&] { writer.write_text("notes.txt", ""); }), HasSubstr("give each file a name of its own"));
}

TEST(CheckpointFolder, SaysWhyItCannotBeMade) {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  EXPECT_EQ(error_of([&] { CheckpointWriter writer(folder.path() / "file/checkpoint-1"); }),
            "cannot write " + (folder / "file/checkpoint-1") +
                ": Not a directory; choose an existing, writable folder with free space");
}

TEST(CheckpointFolder, IsRemovedWithoutLeavingAnything) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "checkpoint-1");
  remove_checkpoint(folder.path() / "checkpoint-1");
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
  EXPECT_THAT(error_of([&] { remove_checkpoint(folder.path() / "checkpoint-1"); }),
              HasSubstr("checkpoint-1: No such file or directory; remove it by hand"));
}

TEST(CheckpointFolder, OnlyWhatDeadProcessesLeftIsCleanedAway) {
  const TemporaryFolder folder;
  // Linux has no process of this number: the largest is 2^22.
  const std::string dead = ".checkpoint-5.4194305-0.tmp";
  const std::string living = ".checkpoint-5." + std::to_string(::getppid()) + "-7.tmp";
  CheckpointWriter writer(folder.path() / "checkpoint-5");
  const std::vector<std::string> others{
      ".checkpoint-5.4194305.tmp", ".hidden",         ".tmp", "checkpoint-5.4194305-0.tmp",
      ".checkpoint-5.-1-0.tmp",    ".x.4194305-0.tm", living};
  for (const auto& name : others) std::filesystem::create_directory(folder.path() / name);
  std::filesystem::create_directories(folder.path() / dead / "inner");
  remove_unfinished(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / dead));
  EXPECT_EQ(names_in(folder.path()).size(), others.size() + 1);
  writer.commit();
  EXPECT_EQ(damage_of(folder.path() / "checkpoint-5"), "none");
  remove_unfinished(folder.path() / "nowhere");
}

TEST(CheckpointFolder, IsReplacedWhereNamesCannotBeExchanged) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "checkpoint-1", "old");
  write_checkpoint(folder.path() / "next", "new");
  replace_in_steps(folder.path() / "next", folder.path() / "checkpoint-1");
  EXPECT_EQ(CheckpointReader(folder.path() / "checkpoint-1").text("notes.txt"), "new");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint-1"));
  EXPECT_THROW(replace_in_steps(folder.path() / "nothing", folder.path() / "checkpoint-1"),
               std::filesystem::filesystem_error);
  EXPECT_EQ(CheckpointReader(folder.path() / "checkpoint-1").text("notes.txt"), "new");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint-1"));
}

TEST(CheckpointFolder, ThatWasMovedAwayForANewOneComesBackWhenTheProcessWasKilled) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / ".checkpoint-1.4194305-1.old", "old");
  write_checkpoint(folder.path() / ".checkpoint-1.4194305-0.tmp", "new");
  remove_unfinished(folder.path());
  EXPECT_EQ(CheckpointReader(folder.path() / "checkpoint-1").text("notes.txt"), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint-1"));
  write_checkpoint(folder.path() / ".checkpoint-1.4194305-1.old", "older");
  remove_unfinished(folder.path());
  EXPECT_EQ(CheckpointReader(folder.path() / "checkpoint-1").text("notes.txt"), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint-1"));
}

TEST(CheckpointFolder, MayBeNamedWithASlashAtItsEnd) {
  const TemporaryFolder folder;
  {
    CheckpointWriter writer(folder / "checkpoint-1/");
    writer.write_text("notes.txt", "text");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "checkpoint-1"));
    writer.commit();
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint-1"));
  EXPECT_EQ(CheckpointReader(folder.path() / "checkpoint-1").text("notes.txt"), "text");
  remove_checkpoint(folder / "checkpoint-1/");
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(CheckpointFolder, WithoutAFileThatFailedIsNotCommitted) {
  const TemporaryFolder folder;
  {
    CheckpointWriter writer(folder.path() / "checkpoint-1");
    // A file of this length has no name on any file system.
    EXPECT_THAT(error_of([&] { writer.write_text(std::string(300, 'x'), ""); }), HasSubstr("File name too long"));
    EXPECT_THAT(error_of([&] { writer.commit(); }), HasSubstr("checkpoint-1: a file of it could not be written"));
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(CheckpointFolder, RefusesANameThatTheManifestCannotHold) {
  const TemporaryFolder folder;
  CheckpointWriter writer(folder.path() / "checkpoint-1");
  EXPECT_THAT(error_of([&] { writer.write_text("caf\xe9", ""); }), HasSubstr("give each file a name of its own"));
}

/// A container's processes have the same few numbers again and again: what a killed one left bears the number of the
/// one that goes on.
TEST(CheckpointFolder, IsWrittenBesideWhatAKilledProcessOfTheSameNumberLeft) {
  const TemporaryFolder folder;
  for (int count = 0; count < 1000; ++count) {
    const auto left =
        folder.path() / (".checkpoint-1." + std::to_string(::getpid()) + "-" + std::to_string(count) + ".tmp");
    std::filesystem::create_directory(left);
    write_text(left / "notes.txt", "half");
  }
  write_checkpoint(folder.path() / "checkpoint-1");
  EXPECT_EQ(damage_of(folder.path() / "checkpoint-1"), "none");
}

TEST(CheckpointFolder, WhatAKilledProcessOfTheSameNumberLeftIsCleanedAway) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / (".checkpoint-1." + std::to_string(::getpid()) + "-999999.tmp"));
  remove_unfinished(folder.path());
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

}  // namespace
}  // namespace lope::testing
