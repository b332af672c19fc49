#include "lope/mapped_file.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

TEST(MappedFile, HasTheBytesOfTheFile) {
  const TemporaryFolder folder;
  write_text(folder / "data", "abc");
  const auto bytes = MappedFile::open(folder / "data")->bytes();
  EXPECT_EQ(bytes.size(), 3U);
}

TEST(MappedFile, BytesLiveAsLongAsTheFileObject) {
  const TemporaryFolder folder;
  write_text(folder / "data", "abc");
  const auto file = MappedFile::open(folder / "data");
  std::filesystem::remove(folder / "data");
  EXPECT_EQ(file->bytes()[2], std::byte{'c'});
}

TEST(MappedFile, WritingToTheBytesLeavesTheFileAlone) {
  const TemporaryFolder folder;
  write_text(folder / "data", "abc");
  const auto file = MappedFile::open(folder / "data");
  file->bytes()[0] = std::byte{'x'};
  EXPECT_EQ(file->bytes()[0], std::byte{'x'});
  EXPECT_EQ(read_text(folder / "data"), "abc");
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const TemporaryFolder folder;
  write_text(folder / "data", "");
  EXPECT_TRUE(MappedFile::open(folder / "data")->bytes().empty());
}

TEST(MappedFile, AMissingFileIsNamed) {
  EXPECT_EQ(error_of([] { MappedFile::open("/no/such/file"); }),
            "cannot read /no/such/file: No such file or directory; give the path of a readable file");
}

TEST(MappedFile, AFolderIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { MappedFile::open(folder.path()); }),
            "cannot read " + folder.path().string() + ": Is a directory; give the path of a readable file");
}

TEST(MappedFile, ADeviceIsRefused) {
  EXPECT_EQ(error_of([] { MappedFile::open("/dev/null"); }),
            "cannot read /dev/null: it is not a regular file; only those can be mapped");
}

}  // namespace
}  // namespace lope
