#pragma once
// Many tensors as one list of short ranges, so that one parallel region serves all of them.
//
//   for_each_range(parameters, [&](size_t tensor, int64_t begin, int64_t end) { ... });

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <span>
#include <vector>

namespace lope::kernels {

/// Elements a range has at most.
inline constexpr int64_t kRangeSize = 8192;

/// Where each tensor's ranges begin in the list of all ranges, and at last their number.
inline std::vector<int64_t> range_offsets(std::span<const at::Tensor> tensors) {
  std::vector<int64_t> offsets(tensors.size() + 1, 0);
  for (size_t i = 0; i < tensors.size(); ++i) {
    offsets[i + 1] = offsets[i] + (tensors[i].numel() + kRangeSize - 1) / kRangeSize;
  }
  return offsets;
}

/// Calls body(tensor, begin, end) for every range of every tensor, on all threads.
template <typename Body>
void for_each_range(std::span<const at::Tensor> tensors, const Body& body) {
  const std::vector<int64_t> offsets = range_offsets(tensors);
  at::parallel_for(0, offsets.back(), 4, [&](int64_t first, int64_t last) {
    auto tensor = static_cast<size_t>(std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1);
    for (int64_t range = first; range < last; ++range) {
      while (range >= offsets[tensor + 1]) ++tensor;
      const int64_t begin = (range - offsets[tensor]) * kRangeSize;
      body(tensor, begin, std::min(begin + kRangeSize, tensors[tensor].numel()));
    }
  });
}

}  // namespace lope::kernels
