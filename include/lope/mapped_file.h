#pragma once
// A file as memory: pages are read when they are touched, and nothing is copied.
//
//   auto file = lope::MappedFile::open("tokens.bin");
//   std::span<std::byte> bytes = file->bytes();
//
// A file that is cut short by another process while it is mapped ends this process with SIGBUS, so writers should
// replace a file (AtomicFile does), not change it.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace lope {

class MappedFile {
 public:
  /// Maps the whole of the regular file at `path`; throws Error when it is missing, unreadable or a folder.
  static std::shared_ptr<const MappedFile> open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// The file's bytes. Writing to them changes this process's copy of the page, never the file.
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace lope
