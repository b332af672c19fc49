#pragma once
// A file as memory: pages are read when they are touched, and nothing is copied.
//
//   auto file = lope::MappedFile::open("tokens.bin");
//   std::span<std::byte> bytes = file->bytes();
//
// A file that is cut short by another process while it is mapped ends this process with SIGBUS, so writers should
// replace a file (AtomicFile does), not change it.

#include <atomic>
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

  /// For readers of files larger than the memory: says that `count` bytes in one piece were read. About every 256 MB
  /// all pages are given back to the system, so that this process never holds more of the file than that. Do not call
  /// it when somebody writes to `bytes()`: what was written would be lost. Safe from several threads.
  void note_read(std::size_t count) const;

 private:
  explicit MappedFile(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
  mutable std::atomic<std::size_t> held_ = 0;
};

}  // namespace lope
