#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <cmath>

#include "kernels/kernels.h"
#include "kernels/ranges.h"
#include "kernels/simd.h"

namespace lope::kernels {
namespace {

/// The numbers of one tensor's update, in the type that the arithmetic is done in.
template <typename Op>
struct AdamFactors {
  AdamFactors(const AdamSettings& s, const HostUpdate& update, double step)
      : inverse_scale(static_cast<Op>(update.inverse_scale)),
        keep(static_cast<Op>(s.decoupled ? 1.0 - update.learning_rate * s.weight_decay : 1.0)),
        l2(static_cast<Op>(s.decoupled ? 0.0 : s.weight_decay)),
        first(static_cast<Op>(1.0 - s.beta1)),
        beta2(static_cast<Op>(s.beta2)),
        second(static_cast<Op>(1.0 - s.beta2)),
        negative_step(static_cast<Op>(-(update.learning_rate / (1.0 - std::pow(s.beta1, step))))),
        correction(static_cast<Op>(std::sqrt(1.0 - std::pow(s.beta2, step)))),
        epsilon(static_cast<Op>(s.epsilon)) {}

  Op inverse_scale, keep, l2, first, beta2, second, negative_step, correction, epsilon;
};

template <typename T>
struct AdamRange {
  T* parameter;
  const T* gradient;
  T* first;
  T* second;
  int64_t size;
};

/// In the order of torch.optim.AdamW's operations, rounded as they are, but for the square root: ATen's is not always
/// the nearest number.
template <typename T, typename Op>
[[gnu::always_inline]] inline void adam_range(const AdamRange<T>& range, const AdamFactors<Op>& f) {
  T* __restrict parameter = range.parameter;
  const T* __restrict gradient = range.gradient;
  T* __restrict first = range.first;
  T* __restrict second = range.second;
  for (int64_t i = 0; i < range.size; ++i) {
    const Op p = static_cast<Op>(parameter[i]);
    const Op g = static_cast<Op>(gradient[i]) * f.inverse_scale + f.l2 * p;
    const Op m = std::fma(f.first, g - static_cast<Op>(first[i]), static_cast<Op>(first[i]));
    const Op v = std::fma(f.second * g, g, f.beta2 * static_cast<Op>(second[i]));
    const Op denominator = std::sqrt(v) / f.correction + f.epsilon;
    first[i] = static_cast<T>(m);
    second[i] = static_cast<T>(v);
    parameter[i] = static_cast<T>(p * f.keep + f.negative_step * m / denominator);
  }
}

template <typename T, typename Op>
void run(const AdamRange<T>& range, const AdamFactors<Op>& factors) {
  adam_range(range, factors);
}

LOPE_CPU_VERSIONS void run(const AdamRange<float>& range, const AdamFactors<float>& factors) {
  adam_range(range, factors);
}

template <typename T>
void adam_cpu(Lists& lists, const AdamSettings& settings, const HostUpdate& update) {
  using Op = at::opmath_type<T>;
  for_each_range(lists.parameters, [&](size_t i, int64_t begin, int64_t end) {
    const AdamFactors<Op> factors(settings, update, *lists.steps[i].const_data_ptr<float>());
    run(AdamRange<T>{lists.parameters[i].mutable_data_ptr<T>() + begin, lists.gradients[i].const_data_ptr<T>() + begin,
                     lists.slots[0][i].mutable_data_ptr<T>() + begin, lists.slots[1][i].mutable_data_ptr<T>() + begin,
                     end - begin},
        factors);
  });
}

void adam_fused(Lists& lists, const AdamSettings& s, const Update& update) {
  const auto scale = update.grad_scale.defined() ? std::optional(update.grad_scale) : std::nullopt;
  const auto skip = update.skip.defined() ? std::optional(update.skip) : std::nullopt;
  const auto call = [&](const auto& fused, const auto& rate) {
    fused(lists.parameters, lists.gradients, lists.slots[0], lists.slots[1], at::TensorList(), lists.steps, rate,
          s.beta1, s.beta2, s.weight_decay, s.epsilon, false, false, scale, skip);
  };
  const auto adamw = [](auto&&... args) { at::_fused_adamw_(std::forward<decltype(args)>(args)...); };
  const auto adam = [](auto&&... args) { at::_fused_adam_(std::forward<decltype(args)>(args)...); };
  const auto with_rate = [&](const auto& fused) {
    if (update.learning_rate.on_host()) return call(fused, update.learning_rate.value());
    call(fused, update.learning_rate.tensor());
  };
  s.decoupled ? with_rate(adamw) : with_rate(adam);
}

}  // namespace

void adam_(Lists& lists, const AdamSettings& settings, const Update& update) {
  if (lists.parameters.empty()) return;
  if (!lists.parameters.front().is_cpu()) return adam_fused(lists, settings, update);
  const HostUpdate host(update);
  if (host.skip) return;
  if (!settings.fused) return adam_eager_(lists, settings, host);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, lists.parameters.front().scalar_type(), "adam",
                                  [&] { adam_cpu<scalar_t>(lists, settings, host); });
}

}  // namespace lope::kernels
