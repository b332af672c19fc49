#pragma once
// A file that appears under its name only when it is whole and on the disk.
//
//   lope::AtomicFile file("out/trainer_state.json");
//   file.write(text);
//   file.commit();
//
// Until commit() the bytes are in a temporary file in the same folder, which the destructor removes. So a reader sees
// the old file or the new one, never a part, also when the disk is full or the process is killed.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lope {

class AtomicFile {
 public:
  /// Opens a temporary file beside `path`; throws Error with the system's reason when that cannot be done.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Adds all of `bytes`; throws Error (disk full, quota, I/O error).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  /// Forces the bytes to the disk and gives the file its name, replacing what had it.
  void commit();

 private:
  [[noreturn]] void fail(int reason) const;
  void sync_folder() const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace lope
