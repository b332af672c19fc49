#pragma once
// A file that may be gzipped, read from its beginning.
//
//   GzipFile file("images.gz");
//   size_t got = file.read(buffer);

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct gzFile_s;  // NOLINT(readability-identifier-naming): zlib calls it so

namespace lope {

class GzipFile {
 public:
  /// Throws Error when the file cannot be read.
  explicit GzipFile(std::string path);

  /// Fills `to` as far as the file goes, and returns the number of bytes. Throws Error when compressed data are damaged
  /// or cut short.
  size_t read(std::span<std::byte> to);

  /// An upper bound of the bytes that the whole file can hold, from its size on the disk.
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
  uint64_t most_bytes_ = 0;
};

}  // namespace lope
