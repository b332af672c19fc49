#pragma once
// Function versions for newer x86 processors, chosen when the program is loaded. The sanitizers' start-up does not go
// together with that choice.

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define LOPE_CPU_VERSIONS __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define LOPE_CPU_VERSIONS
#endif
