#include "lope/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <iterator>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

std::ptrdiff_t files_in(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

/// While it lives, no file of this process grows past `bytes`: to a writer the same as a full disk.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, handler_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(AtomicFile, AppearsWhenCommitted) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  file.commit();
  EXPECT_EQ(read_text(folder / "a"), "one two");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(AtomicFile, ReplacesTheOldFileOnlyWhenCommitted) {
  const TemporaryFolder folder;
  write_text(folder / "a", "old");
  AtomicFile file(folder / "a");
  file.write("new");
  EXPECT_EQ(read_text(folder / "a"), "old");
  file.commit();
  EXPECT_EQ(read_text(folder / "a"), "new");
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  write_text(folder / "a", "old");
  AtomicFile(folder / "a").write("new");
  EXPECT_EQ(read_text(folder / "a"), "old");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(AtomicFile, AWriteThatTheSystemRefusesIsAnErrorAndLeavesNoTemporaryFile) {
  const TemporaryFolder folder;
  const SizeLimit limit(4);
  const std::string message = error_of([&] {
    AtomicFile file(folder / "a");
    file.write("longer than four bytes");
    file.commit();
  });
  EXPECT_EQ(message,
            "cannot write " + (folder / "a") + ": File too large; choose an existing, writable folder with free space");
  EXPECT_EQ(files_in(folder), 0);
}

TEST(AtomicFile, AMissingFolderIsNamed) {
  EXPECT_EQ(error_of([] { AtomicFile file("/no/such/folder/a"); }),
            "cannot write /no/such/folder/a: No such file or directory; choose an existing, writable folder with free "
            "space");
}

}  // namespace
}  // namespace lope
