#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/_fused_adagrad.h>

#include <cmath>

#include "kernels/kernels.h"
#include "kernels/ranges.h"
#include "kernels/simd.h"

namespace lope::kernels {
namespace {

template <typename Op>
struct AdagradFactors {
  AdagradFactors(const AdagradSettings& s, const HostUpdate& update, float step)
      : inverse_scale(static_cast<Op>(update.inverse_scale)),
        l2(static_cast<Op>(s.weight_decay)),
        rate(static_cast<Op>(update.learning_rate / (1.0 + (step - 1.0) * s.lr_decay))),
        epsilon(static_cast<Op>(s.epsilon)) {}

  Op inverse_scale, l2, rate, epsilon;
};

template <typename T>
struct AdagradRange {
  T* parameter;
  const T* gradient;
  T* sum;
  int64_t size;
};

template <typename T, typename Op>
[[gnu::always_inline]] inline void adagrad_range(const AdagradRange<T>& range, const AdagradFactors<Op>& f) {
  T* __restrict parameter = range.parameter;
  const T* __restrict gradient = range.gradient;
  T* __restrict sum = range.sum;
  for (int64_t i = 0; i < range.size; ++i) {
    const Op p = static_cast<Op>(parameter[i]);
    const Op g = static_cast<Op>(gradient[i]) * f.inverse_scale + f.l2 * p;
    const Op s = static_cast<Op>(sum[i]) + g * g;
    sum[i] = static_cast<T>(s);
    parameter[i] = static_cast<T>(p - f.rate * g / (std::sqrt(s) + f.epsilon));
  }
}

template <typename T, typename Op>
void run(const AdagradRange<T>& range, const AdagradFactors<Op>& factors) {
  adagrad_range(range, factors);
}

LOPE_CPU_VERSIONS void run(const AdagradRange<float>& range, const AdagradFactors<float>& factors) {
  adagrad_range(range, factors);
}

template <typename T>
void adagrad_cpu(Lists& lists, const AdagradSettings& settings, const HostUpdate& update) {
  using Op = at::opmath_type<T>;
  for_each_range(lists.parameters, [&](size_t i, int64_t begin, int64_t end) {
    run(AdagradRange<T>{lists.parameters[i].mutable_data_ptr<T>() + begin,
                        lists.gradients[i].const_data_ptr<T>() + begin, lists.slots[0][i].mutable_data_ptr<T>() + begin,
                        end - begin},
        AdagradFactors<Op>(settings, update, *lists.steps[i].const_data_ptr<float>()));
  });
}

void adagrad_fused(Lists& lists, const AdagradSettings& s, const Update& update) {
  const auto scale = update.grad_scale.defined() ? std::optional(update.grad_scale) : std::nullopt;
  const auto skip = update.skip.defined() ? std::optional(update.skip) : std::nullopt;
  const auto call = [&](const auto& rate) {
    at::_fused_adagrad_(lists.parameters, lists.gradients, lists.slots[0], lists.steps, rate, s.lr_decay,
                        s.weight_decay, s.epsilon, false, scale, skip);
  };
  if (update.learning_rate.on_host()) return call(update.learning_rate.value());
  call(update.learning_rate.tensor());
}

}  // namespace

void adagrad_(Lists& lists, const AdagradSettings& settings, const Update& update) {
  if (lists.parameters.empty()) return;
  if (!lists.parameters.front().is_cpu()) return adagrad_fused(lists, settings, update);
  const HostUpdate host(update);
  if (host.skip) return;
  if (!settings.fused) return adagrad_eager_(lists, settings, host);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, lists.parameters.front().scalar_type(), "adagrad",
                                  [&] { adagrad_cpu<scalar_t>(lists, settings, host); });
}

}  // namespace lope::kernels
