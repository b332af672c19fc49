#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <system_error>
#include <utility>

#include "checkpoint_names.h"
#include "checksum.h"
#include "lope/checkpoint_folder.h"
#include "lope/error.h"
#include "manifest.h"
#include "safetensors_write.h"

namespace lope {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int reason) {
  throw Error(fmt::format("cannot write {}: {}; choose an existing, writable folder with free space", path.string(),
                          std::strerror(reason)));
}

void sync_path(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) fail(path, errno);
  // Folders of some file systems cannot be synced: then a name is as lasting as that system makes it.
  const bool failed = ::fsync(descriptor) != 0 && (flags & O_DIRECTORY) == 0;
  const int reason = errno;
  ::close(descriptor);
  if (failed) fail(path, reason);
}

/// A new file, written front to back, with the checksum of what was written.
class HashedFile {
 public:
  explicit HashedFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(path_, errno);
  }
  ~HashedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  HashedFile(const HashedFile&) = delete;
  HashedFile& operator=(const HashedFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    entry_.bytes += bytes.size();
    if (bytes.size() >= kWorthAThread) return write_and_hash_at_once(bytes);
    while (!bytes.empty()) {
      const auto chunk = bytes.first(std::min(bytes.size(), kChunk));
      hash_.add(chunk);
      write_chunk(chunk);
      bytes = bytes.subspan(chunk.size());
    }
  }

  /// Forces the bytes to the disk.
  ManifestEntry close() {
    if (::fsync(descriptor_) != 0) fail(path_, errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
    entry_.checksum = hash_.value();
    return entry_;
  }

 private:
  /// Small enough to be in the cache still when it is written after hashing.
  static constexpr std::size_t kChunk = 1 << 18;

  /// From here on a thread costs less than it saves: hashing reads all the memory once more.
  static constexpr std::size_t kWorthAThread = 1 << 22;

  void write_and_hash_at_once(std::span<const std::byte> bytes) {
    const std::future<void> hashing = std::async(std::launch::async, [this, bytes] { hash_.add(bytes); });
    write_chunk(bytes);
    hashing.wait();
  }

  void write_chunk(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) fail(path_, errno);
      if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
  Checksum hash_;
  ManifestEntry entry_;
};

/// Swaps two names at once. False where the file system or the kernel cannot.
bool exchange(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) fail(b, errno);
  return false;
}

}  // namespace

class CheckpointWriter::Impl {
 public:
  explicit Impl(std::filesystem::path folder)
      : folder_(folder.has_filename() ? std::move(folder) : folder.parent_path()),
        temporary_(hidden_checkpoint_name(folder_)) {
    std::error_code error;
    if (folder_.has_parent_path()) std::filesystem::create_directories(folder_.parent_path(), error);
    if (!error) std::filesystem::create_directory(temporary_, error);
    if (error) fail(folder_, error.value());
  }

  ~Impl() {
    std::error_code ignored;
    std::filesystem::remove_all(temporary_, ignored);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  template <typename Write>
  void add(const std::string& name, Write write) {
    if (!is_checkpoint_file_name(name) || manifest_.contains(name)) {
      throw Error(fmt::format("checkpoint file \"{}\": give each file a name of its own, without a folder", name));
    }
    whole_ = false;
    HashedFile file(temporary_ / name);
    write([&](std::span<const std::byte> bytes) { file.write(bytes); });
    manifest_[name] = file.close();
    whole_ = true;
  }

  void commit() {
    if (!whole_) {
      throw Error(
          fmt::format("checkpoint {}: a file of it could not be written; write it anew with another CheckpointWriter",
                      folder_.string()));
    }
    {
      HashedFile file(temporary_ / kManifestName);
      const std::string text = manifest_text(manifest_);
      file.write(std::as_bytes(std::span(text)));
      file.close();
    }
    sync_path(temporary_, O_DIRECTORY);
    give_name();
    sync_path(folder_.has_parent_path() ? folder_.parent_path() : ".", O_DIRECTORY);
  }

 private:
  /// A folder of the name that is there already takes the hidden name instead, at once where the system can, and is
  /// removed with it.
  void give_name() {
    try {
      if (!std::filesystem::exists(folder_)) {
        std::filesystem::rename(temporary_, folder_);
      } else if (!exchange(temporary_, folder_)) {
        replace_in_steps(temporary_, folder_);
      }
    } catch (const std::filesystem::filesystem_error& error) {
      fail(folder_, error.code().value());
    }
  }

  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  Manifest manifest_;
  bool whole_ = true;  ///< no file failed
};

CheckpointWriter::CheckpointWriter(std::filesystem::path folder) : impl_(std::make_unique<Impl>(std::move(folder))) {}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::write_text(const std::string& name, std::string_view text) {
  impl_->add(name, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(text))); });
}

void CheckpointWriter::write_tensors(const std::string& name, const TensorMap& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  impl_->add(name, [&](const ByteSink& sink) { write_safetensors(sink, name, tensors, metadata); });
}

void CheckpointWriter::commit() { impl_->commit(); }

}  // namespace lope
