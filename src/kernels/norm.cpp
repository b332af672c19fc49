#include <ATen/Dispatch.h>

#include <array>
#include <cmath>
#include <numeric>

#include "kernels/kernels.h"
#include "kernels/ranges.h"
#include "kernels/simd.h"

namespace lope::kernels {
namespace {

template <typename T>
[[gnu::always_inline]] inline double squares(const T* data, int64_t size) {
  constexpr int64_t kLanes = 16;
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(data[i + static_cast<int64_t>(lane)]);
      lanes[lane] += value * value;
    }
  }
  double sum = std::accumulate(lanes.begin(), lanes.end(), 0.0);
  for (; i < size; ++i) sum += static_cast<double>(data[i]) * static_cast<double>(data[i]);
  return sum;
}

template <typename T>
double sum_of_squares(const T* data, int64_t size) {
  return squares(data, size);
}

LOPE_CPU_VERSIONS double sum_of_squares(const float* data, int64_t size) { return squares(data, size); }

}  // namespace

double cpu_norm(const std::vector<at::Tensor>& given) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(given.size());
  for (const auto& tensor : given) tensors.push_back(tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous());
  const auto offsets = range_offsets(tensors);
  std::vector<double> sums(static_cast<size_t>(offsets.back()), 0.0);
  for_each_range(tensors, offsets, [&](size_t i, int64_t begin, int64_t end, int64_t range) {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, tensors[i].scalar_type(), "norm", [&] {
      sums[static_cast<size_t>(range)] = sum_of_squares(tensors[i].const_data_ptr<scalar_t>() + begin, end - begin);
    });
  });
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace lope::kernels
