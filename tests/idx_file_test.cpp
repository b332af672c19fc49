#include "lope/idx_file.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/error_of.h"
#include "support/idx_bytes.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using namespace std::string_literals;
using testing::error_of;
using testing::idx_bytes;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

/// A file of these bytes, which `read` reads.
class File {
 public:
  explicit File(std::string_view bytes) { write_text(path(), bytes); }
  std::string path() const { return folder_ / "t"; }
  at::Tensor read() const { return read_idx(path()); }
  /// The message without the file's name.
  std::string error() const {
    return error_of([this] { read(); }).substr(path().size() + 1);
  }

 private:
  TemporaryFolder folder_;
};

std::string zipped(const std::string& bytes) {
  const TemporaryFolder folder;
  const gzFile file = gzopen((folder / "t").c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return read_text(folder / "t");
}

TEST(ReadIdx, BytesComeInTheirShape) {
  const at::Tensor tensor = File(idx_bytes(0x08, {2, 1, 3}, "\x00\x01\x02\x7f\x80\xff"s)).read();
  EXPECT_EQ(tensor.scalar_type(), at::kByte);
  EXPECT_TRUE(tensor.equal(at::tensor({0, 1, 2, 127, 128, 255}, at::kByte).reshape({2, 1, 3})));
}

TEST(ReadIdx, LargerNumbersAreBigEndian) {
  EXPECT_TRUE(File(idx_bytes(0x09, {2}, "\xff\x05"s)).read().equal(at::tensor({-1, 5}, at::kChar)));
  EXPECT_TRUE(File(idx_bytes(0x0b, {2}, "\x01\x02\xff\xfe"s)).read().equal(at::tensor({258, -2}, at::kShort)));
  EXPECT_TRUE(File(idx_bytes(0x0c, {1}, "\x00\x01\x00\x00"s)).read().equal(at::tensor({65536}, at::kInt)));
  EXPECT_TRUE(File(idx_bytes(0x0d, {1}, "\x3f\xc0\x00\x00"s)).read().equal(at::tensor({1.5F})));
  EXPECT_TRUE(
      File(idx_bytes(0x0e, {1}, "\xc0\x00\x00\x00\x00\x00\x00\x00"s)).read().equal(at::tensor({-2.0}, at::kDouble)));
}

TEST(ReadIdx, AGzippedFileIsTheSame) {
  const std::string bytes = idx_bytes(0x08, {4}, "abcd");
  EXPECT_TRUE(File(zipped(bytes)).read().equal(File(bytes).read()));
}

TEST(ReadIdx, NoElementsAreATensorToo) {
  EXPECT_EQ(File(idx_bytes(0x08, {0, 28}, "")).read().sizes(), (std::vector<int64_t>{0, 28}));
}

TEST(ReadIdx, AnotherMagicNumberIsShown) {
  const std::string reason = ", not with 00 00, a type (08, 09, 0b, 0c, 0d or 0e) and the number of dimensions";
  EXPECT_EQ(File("\x89PNG....").error(), "is no IDX file: it begins with the bytes 89 50 4e 47" + reason);
  EXPECT_EQ(File(idx_bytes(0x0a, {1}, "a")).error(), "is no IDX file: it begins with the bytes 00 00 0a 01" + reason);
  EXPECT_EQ(File(idx_bytes(0x08, {}, "a")).error(), "is no IDX file: it begins with the bytes 00 00 08 00" + reason);
  EXPECT_EQ(File("\0\1\x08\1"s).error(), "is no IDX file: it begins with the bytes 00 01 08 01" + reason);
}

TEST(ReadIdx, AFileThatIsCutShortIsRefused) {
  EXPECT_EQ(File("").error(), "is cut short: its header is not whole");
  EXPECT_EQ(File(idx_bytes(0x08, {2, 2}, "").substr(0, 9)).error(), "is cut short: its header is not whole");
  EXPECT_EQ(File(idx_bytes(0x0b, {2, 2}, "1234567")).error(),
            "is cut short: its header says (2, 2) elements, which are 8 bytes, but it has only 7");
}

TEST(ReadIdx, AHeaderThatSaysFarTooMuchIsRefusedBeforeMemoryIsTaken) {
  EXPECT_EQ(File(idx_bytes(0x08, {4294967295, 4294967295, 4294967295}, "a")).error(),
            "is cut short: its header says (4294967295, 4294967295, 4294967295) elements of 1 bytes, which it is too "
            "small for");
}

TEST(ReadIdx, AFileThatIsTooLongIsRefused) {
  EXPECT_EQ(File(idx_bytes(0x08, {2}, "abc")).error(),
            "is too long: its header says (2) elements, which are 2 bytes, but it has more");
}

TEST(ReadIdx, DamagedCompressionIsRefused) {
  const std::string good = zipped(idx_bytes(0x08, {40}, "0123456789abcdefghijklmnopqrstuvwxyzABCD"));
  EXPECT_EQ(File(good.substr(0, good.size() - 12)).error(), " its compressed data are cut short: get the file anew");
  std::string damaged = good;
  damaged[good.size() - 6] = static_cast<char>(damaged[good.size() - 6] ^ 1);  // its checksum
  EXPECT_EQ(File(damaged).error(), " its compressed data are damaged (incorrect data check): get the file anew");
}

TEST(ReadIdx, AMissingFileIsNamed) {
  EXPECT_EQ(error_of([] { read_idx("/no/such/file"); }),
            "cannot read /no/such/file: No such file or directory; give the path of a readable file");
}

TEST(ReadIdx, AFolderIsRefused) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of([&] { read_idx(folder.path()); }).find("cannot read " + folder.path().string()),
            std::string::npos);
}

}  // namespace
}  // namespace lope
