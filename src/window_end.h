#pragma once
// The end of a window where its numbers live: on the host for the CPU, in one small kernel for CUDA.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "window_math.h"

namespace lope::window {

/// Pointers to device memory; null where the host's number serves.
struct DeviceInputs {
  const float* norm = nullptr;
  const float* clip_norm = nullptr;
  const double* loss_sum = nullptr;
  const int64_t* items = nullptr;
  double host_items = 0.0;
  const float* scale = nullptr;
  /// Rates of the applied updates from `first_rate` on.
  const double* rates = nullptr;
  int64_t first_rate = 0;
  int64_t rate_count = 0;
};

/// Runs `finish` on the current CUDA stream. `totals`, `values` (float64) and `scalars` (float32) are CUDA tensors.
/// Throws Error in a build without CUDA.
void finish_on_cuda(const Settings& settings, const DeviceInputs& inputs, const at::Tensor& totals,
                    const at::Tensor& values, const at::Tensor& scalars);

}  // namespace lope::window
