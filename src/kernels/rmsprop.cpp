#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

#include <cmath>

#include "kernels/kernels.h"
#include "kernels/ranges.h"
#include "kernels/simd.h"

namespace lope::kernels {
namespace {

template <typename Op>
struct RmspropFactors {
  RmspropFactors(const RmspropSettings& s, const HostUpdate& update)
      : inverse_scale(static_cast<Op>(update.inverse_scale)),
        l2(static_cast<Op>(s.weight_decay)),
        alpha(static_cast<Op>(s.alpha)),
        incoming(static_cast<Op>(1.0 - s.alpha)),
        momentum(static_cast<Op>(s.momentum)),
        rate(static_cast<Op>(update.learning_rate)),
        epsilon(static_cast<Op>(s.epsilon)) {}

  Op inverse_scale, l2, alpha, incoming, momentum, rate, epsilon;
};

template <typename T>
struct RmspropRange {
  T* parameter;
  const T* gradient;
  T* square;
  T* momentum;  // null without momentum
  T* mean;      // null unless centred
  int64_t size;
};

template <bool kMomentum, bool kCentered, typename T, typename Op>
[[gnu::always_inline]] inline void rmsprop_range(const RmspropRange<T>& range, const RmspropFactors<Op>& f) {
  T* __restrict parameter = range.parameter;
  const T* __restrict gradient = range.gradient;
  T* __restrict square = range.square;
  T* __restrict momentum = range.momentum;
  T* __restrict mean = range.mean;
  for (int64_t i = 0; i < range.size; ++i) {
    const Op p = static_cast<Op>(parameter[i]);
    const Op g = static_cast<Op>(gradient[i]) * f.inverse_scale + f.l2 * p;
    const Op s = f.alpha * static_cast<Op>(square[i]) + f.incoming * g * g;
    square[i] = static_cast<T>(s);
    Op variance = s;
    if constexpr (kCentered) {
      const Op m = static_cast<Op>(mean[i]) + f.incoming * (g - static_cast<Op>(mean[i]));
      mean[i] = static_cast<T>(m);
      variance -= m * m;
    }
    Op direction = g / (std::sqrt(variance) + f.epsilon);
    if constexpr (kMomentum) {
      direction += f.momentum * static_cast<Op>(momentum[i]);
      momentum[i] = static_cast<T>(direction);
    }
    parameter[i] = static_cast<T>(p - f.rate * direction);
  }
}

template <typename T, typename Op>
[[gnu::always_inline]] inline void choose(const RmspropRange<T>& range, const RmspropFactors<Op>& factors) {
  if (range.momentum != nullptr && range.mean != nullptr) return rmsprop_range<true, true>(range, factors);
  if (range.momentum != nullptr) return rmsprop_range<true, false>(range, factors);
  if (range.mean != nullptr) return rmsprop_range<false, true>(range, factors);
  rmsprop_range<false, false>(range, factors);
}

template <typename T, typename Op>
void run(const RmspropRange<T>& range, const RmspropFactors<Op>& factors) {
  choose(range, factors);
}

LOPE_CPU_VERSIONS void run(const RmspropRange<float>& range, const RmspropFactors<float>& factors) {
  choose(range, factors);
}

template <typename T>
void rmsprop_cpu(Lists& lists, const RmspropSettings& settings, const HostUpdate& update) {
  const RmspropFactors<at::opmath_type<T>> factors(settings, update);
  const bool momentum = settings.momentum > 0.0;
  for_each_range(lists.parameters, [&](size_t i, int64_t begin, int64_t end) {
    const auto slot = [&](const std::vector<at::Tensor>& tensors) { return tensors[i].mutable_data_ptr<T>() + begin; };
    run(RmspropRange<T>{slot(lists.parameters), lists.gradients[i].const_data_ptr<T>() + begin, slot(lists.slots[0]),
                        momentum ? slot(lists.slots[1]) : nullptr,
                        settings.centered ? slot(lists.slots.back()) : nullptr, end - begin},
        factors);
  });
}

}  // namespace

void rmsprop_cpu_(Lists& lists, const RmspropSettings& settings, const Update& update) {
  const HostUpdate host(update);
  if (host.skip || lists.parameters.empty()) return;
  if (!settings.fused) return rmsprop_eager_(lists, settings, host);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, lists.parameters.front().scalar_type(), "rmsprop",
                                  [&] { rmsprop_cpu<scalar_t>(lists, settings, host); });
}

}  // namespace lope::kernels
