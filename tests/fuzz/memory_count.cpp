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
  if (memory == nullptr) throw std::bad_alloc();
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

// NOLINTBEGIN(cppcoreguidelines-no-malloc): this is what `new` is made of
void* operator new(std::size_t size) { return counted(std::malloc(std::max<std::size_t>(size, 1))); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
// NOLINTEND(cppcoreguidelines-no-malloc)
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
