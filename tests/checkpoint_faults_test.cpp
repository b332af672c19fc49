// Whatever happens to a file of a checkpoint or to the disk under it, no damaged state is ever loaded.

#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <string>

#include "lope/checkpoint_folder.h"
#include "lope/checkpoints.h"
#include "support/crashing_run.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kCuts = 20;
constexpr int kFlips = 100;

/// A run with checkpoint-10 and checkpoint-20.
class CheckpointFaults : public ::testing::Test {
 protected:
  CheckpointFaults() { run_training(resumable_arguments(folder_ / "run"), numbered_rows(11)); }

  std::filesystem::path newest() const { return folder_.path() / "run/checkpoint-20"; }

  /// With these bytes in the place of `file`, neither is the newest read nor is another than the one before found.
  void expect_found_out(const std::string& file, const std::string& bytes) const {
    write_text(newest() / file, bytes);
    const auto damage = find_damage(newest());
    ASSERT_TRUE(damage.has_value());
    EXPECT_EQ(damage->file, file);
    EXPECT_THROW(CheckpointReader reader(newest()), Error);
    EXPECT_EQ(find_newest_checkpoint(folder_.path() / "run").folder, folder_.path() / "run/checkpoint-10");
  }

  template <typename Body>
  void for_each_file(Body body) const {
    for (const auto& item : std::filesystem::directory_iterator(newest())) {
      const std::string file = item.path().filename();
      SCOPED_TRACE(file);
      const std::string whole = read_text(item.path());
      body(file, whole);
      write_text(item.path(), whole);
    }
    EXPECT_FALSE(find_damage(newest()).has_value());
  }

  TemporaryFolder folder_;
  mutable std::mt19937_64 random_{5};
};

TEST_F(CheckpointFaults, AFileThatIsCutAnywhereIsFoundOut) {
  for_each_file([this](const std::string& file, const std::string& whole) {
    for (int cut = 0; cut < kCuts; ++cut) expect_found_out(file, whole.substr(0, random_() % whole.size()));
  });
}

TEST_F(CheckpointFaults, ASingleBitThatFlipsAnywhereIsFoundOut) {
  for_each_file([this](const std::string& file, const std::string& whole) {
    for (int flip = 0; flip < kFlips; ++flip) {
      std::string bytes = whole;
      bytes[random_() % bytes.size()] ^= static_cast<char>(1U << random_() % 8);
      expect_found_out(file, bytes);
    }
  });
}

TEST_F(CheckpointFaults, AMissingFileIsFoundOut) {
  for_each_file([this](const std::string& file, const std::string&) {
    std::filesystem::remove(newest() / file);
    EXPECT_EQ(find_damage(newest())->file, file);
  });
}

/// Lets files grow to `bytes` only while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

int64_t entries(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

TEST(CheckpointDisk, AFileThatCannotGrowLeavesTheEarlierCheckpointAndSaysSo) {
  const TemporaryFolder folder;
  const auto save = [&] {
    CheckpointWriter writer(folder.path() / "checkpoint-2");
    writer.write_text("progress.json", "{}");
    writer.write_tensors("model.safetensors", {{"w", at::rand({2'000'000})}});
    writer.commit();
  };
  {
    CheckpointWriter writer(folder.path() / "checkpoint-1");
    writer.write_text("progress.json", "{}");
    writer.commit();
  }
  {
    const FileSizeLimit limit(100'000);
    EXPECT_THAT(error_of(save), HasSubstr("model.safetensors: File too large; choose"));
  }
  EXPECT_EQ(entries(folder.path()), 1);
  EXPECT_EQ(find_newest_checkpoint(folder.path()).folder, folder.path() / "checkpoint-1");
  save();
  EXPECT_EQ(find_newest_checkpoint(folder.path()).folder, folder.path() / "checkpoint-2");
}

/// A file system of one megabyte in memory; not there where mounting is not allowed.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder)
      : folder_(folder), mounted_(::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_;
};

TEST(CheckpointDisk, AFullDiskInTheMiddleOfASaveStopsTheRunWithTheReasonOrNotAsAsked) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs needs CAP_SYS_ADMIN";
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.save_steps = 5;
  struct FillDisk : Callback {
    explicit FillDisk(std::string where) : path(std::move(where)) {}
    void on_save(const TrainingContext&, const std::filesystem::path&) override {
      write_text(path, std::string(2'000'000, 'x'));
    }
    std::string path;
  };
  const auto train = [&] {
    return run_training(arguments, data, {.callbacks = {std::make_shared<FillDisk>(folder / "filler")}});
  };
  EXPECT_THAT(error_of(train), HasSubstr("checkpoint-10 could not be saved: cannot write"));
  EXPECT_EQ(find_newest_checkpoint(folder / "run").folder, folder.path() / "run/checkpoint-5");
  EXPECT_EQ(entries(folder.path() / "run"), 1);
  std::filesystem::remove(folder / "filler");
  arguments.save_on_error = "continue";
  const RunResult run = train();
  EXPECT_EQ(run.output.global_step, 20);
  EXPECT_THAT(run.output.messages, ::testing::Contains(HasSubstr("No space left on device")));
  EXPECT_EQ(find_newest_checkpoint(folder / "run").folder, folder.path() / "run/checkpoint-5");
}

}  // namespace
}  // namespace lope::testing
