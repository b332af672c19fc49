#pragma once
// How much memory `new` has given out in this program, whose operators memory_count.cpp replaces.

#include <cstddef>

namespace fuzz {

/// Forgets earlier peaks.
void start_memory_count();

/// The most bytes that were in use at one time since then, beyond what was in use at its start.
std::size_t peak_memory();

}  // namespace fuzz
