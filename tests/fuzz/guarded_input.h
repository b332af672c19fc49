#pragma once
// Bytes at the very end of a mapping, before a page that cannot be read: one byte too far ends the program.
//
//   fuzz::GuardedInput guard(1 << 18);
//   read(guard.put(text));

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>

namespace fuzz {

class GuardedInput {
 public:
  /// For inputs of at most `most` bytes.
  explicit GuardedInput(std::size_t most) : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    room_ = (most + page_ - 1) / page_ * page_;
    void* const memory = ::mmap(nullptr, room_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for the input");
    memory_ = static_cast<std::byte*>(memory);
    if (::mprotect(memory_ + room_, page_, PROT_NONE) != 0) throw std::runtime_error("no guard page");
  }
  ~GuardedInput() { ::munmap(memory_, room_ + page_); }
  GuardedInput(const GuardedInput&) = delete;
  GuardedInput& operator=(const GuardedInput&) = delete;

  /// Valid until the next call.
  std::span<const std::byte> put(std::string_view text) {
    if (text.size() > room_) throw std::runtime_error("the input is too long");
    std::byte* const begin = memory_ + (room_ - text.size());
    if (!text.empty()) std::memcpy(begin, text.data(), text.size());
    return {begin, text.size()};
  }

 private:
  std::size_t page_;
  std::size_t room_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace fuzz
