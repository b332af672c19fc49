#include "lope/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lope/error.h"

namespace lope {
namespace {

constexpr std::size_t kMostHeld = std::size_t{256} << 20;
/// What a page fault maps of a file's cached pages at once (fault_around_bytes of Linux).
constexpr std::size_t kFaultAround = std::size_t{64} << 10;

[[noreturn]] void fail(const std::string& path, int reason) {
  throw Error(fmt::format("cannot read {}: {}; give the path of a readable file", path, std::strerror(reason)));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (value_ < 0) fail(path, errno);
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

std::size_t size_of(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw Error(fmt::format("cannot read {}: it is not a regular file; only those can be mapped", path));
  return static_cast<std::size_t>(status.st_size);
}

std::span<std::byte> map(const Descriptor& file, std::size_t size, const std::string& path) {
  if (size == 0) return {};
  void* const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail(path, errno);
  return {static_cast<std::byte*>(address), size};
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(path);
  return std::shared_ptr<const MappedFile>(new MappedFile(map(file, size_of(file, path), path)));
}

void MappedFile::note_read(std::size_t count) const {
  if (bytes_.size() <= kMostHeld) return;
  const std::size_t more = count + kFaultAround;
  if (held_.fetch_add(more, std::memory_order_relaxed) + more < kMostHeld) return;
  held_.store(0, std::memory_order_relaxed);
  ::madvise(bytes_.data(), bytes_.size(), MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace lope
