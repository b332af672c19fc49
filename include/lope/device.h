#pragma once
// Where a run computes and how: the device, and the switches that LibTorch keeps for the whole process.
//
//   at::Device device = lope::pick_device(arguments);       // --device auto: CUDA where there is one
//   lope::apply_compute_settings(arguments);

#include <ATen/core/Tensor.h>

#include "lope/autocast.h"
#include "lope/training_arguments.h"

namespace lope {

/// `device` and `use_cpu` of the arguments. Throws Error when the device is not there, or cannot do bf16 or tf32 that
/// the arguments ask for.
at::Device pick_device(const TrainingArguments& arguments);

/// Precision of the forward pass by `fp16` and `bf16`.
Precision pick_precision(const TrainingArguments& arguments);

/// `tf32` (matrix products and convolutions on CUDA) and `full_determinism` (deterministic algorithms; cuDNN without
/// its search). Unset arguments leave LibTorch's settings alone.
void apply_compute_settings(const TrainingArguments& arguments);

/// Device memory in bytes, as LibTorch's allocator counts it; zeros on the CPU.
struct MemoryStatistics {
  int64_t allocated = 0;
  int64_t peak_allocated = 0;
  int64_t reserved = 0;
};
MemoryStatistics memory_statistics(at::Device device);

}  // namespace lope
