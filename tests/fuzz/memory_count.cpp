#include "memory_count.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};
std::atomic<std::size_t> start{0};

void* counted(void* memory) {
  if (memory == nullptr) return nullptr;
  const std::size_t now = live += malloc_usable_size(memory);
  if (now > peak) peak = now;
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  live -= malloc_usable_size(memory);
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): this is what `delete` is made of
}

}  // namespace

namespace fuzz {

void start_memory_count() {
  start = live.load();
  peak = live.load();
}

std::size_t peak_memory() { return peak - std::min(start.load(), peak.load()); }

}  // namespace fuzz

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(std::malloc(std::max<std::size_t>(size, 1)));  // NOLINT(cppcoreguidelines-no-malloc): see above
}
void* operator new(std::size_t size) {
  void* const memory = operator new(size, std::nothrow);
  return memory == nullptr ? throw std::bad_alloc() : memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): see above
  void* const memory = counted(std::aligned_alloc(step, (size + step - 1) / step * step));
  return memory == nullptr ? throw std::bad_alloc() : memory;
}
// Sanitizers have array forms of their own, which would not count.
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
