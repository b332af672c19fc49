#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/_fused_sgd.h>

#include <cmath>

#include "kernels/kernels.h"
#include "kernels/ranges.h"
#include "kernels/simd.h"

namespace lope::kernels {
namespace {

template <typename Op>
struct SgdFactors {
  SgdFactors(const SgdSettings& s, const HostUpdate& update, float step)
      : inverse_scale(static_cast<Op>(update.inverse_scale)),
        l2(static_cast<Op>(s.weight_decay)),
        momentum(static_cast<Op>(s.momentum)),
        // The first update takes the whole gradient into the momentum, as torch.optim.SGD does.
        incoming(static_cast<Op>(step > 1.0F ? 1.0 - s.dampening : 1.0)),
        look_ahead(static_cast<Op>(s.nesterov ? s.momentum : 0.0)),
        keep_gradient(static_cast<Op>(s.nesterov ? 1.0 : 0.0)),
        negative_rate(static_cast<Op>(-update.learning_rate)) {}

  Op inverse_scale, l2, momentum, incoming, look_ahead, keep_gradient, negative_rate;
};

template <typename T>
struct SgdRange {
  T* parameter;
  const T* gradient;
  T* momentum;  // null without momentum
  int64_t size;
};

/// Rounded as the operations of torch.optim.SGD are on the CPU.
template <typename T, typename Op>
[[gnu::always_inline]] inline void sgd_range(const SgdRange<T>& range, const SgdFactors<Op>& f) {
  T* __restrict parameter = range.parameter;
  const T* __restrict gradient = range.gradient;
  T* __restrict buffer = range.momentum;
  if (buffer == nullptr) {
    for (int64_t i = 0; i < range.size; ++i) {
      const Op p = static_cast<Op>(parameter[i]);
      const Op g = std::fma(f.l2, p, static_cast<Op>(gradient[i]) * f.inverse_scale);
      parameter[i] = static_cast<T>(std::fma(f.negative_rate, g, p));
    }
    return;
  }
  const Op direct = f.look_ahead + (Op(1) - f.keep_gradient);
  for (int64_t i = 0; i < range.size; ++i) {
    const Op p = static_cast<Op>(parameter[i]);
    const Op g = std::fma(f.l2, p, static_cast<Op>(gradient[i]) * f.inverse_scale);
    const Op b = std::fma(f.incoming, g, f.momentum * static_cast<Op>(buffer[i]));
    buffer[i] = static_cast<T>(b);
    parameter[i] = static_cast<T>(std::fma(f.negative_rate, std::fma(direct, b, f.keep_gradient * g), p));
  }
}

template <typename T, typename Op>
void run(const SgdRange<T>& range, const SgdFactors<Op>& factors) {
  sgd_range(range, factors);
}

LOPE_CPU_VERSIONS void run(const SgdRange<float>& range, const SgdFactors<float>& factors) {
  sgd_range(range, factors);
}

template <typename T>
void sgd_cpu(Lists& lists, const SgdSettings& settings, const HostUpdate& update) {
  using Op = at::opmath_type<T>;
  for_each_range(lists.parameters, [&](size_t i, int64_t begin, int64_t end) {
    T* momentum = lists.slots.empty() ? nullptr : lists.slots[0][i].mutable_data_ptr<T>() + begin;
    run(SgdRange<T>{lists.parameters[i].mutable_data_ptr<T>() + begin, lists.gradients[i].const_data_ptr<T>() + begin,
                    momentum, end - begin},
        SgdFactors<Op>(settings, update, *lists.steps[i].const_data_ptr<float>()));
  });
}

void sgd_fused(Lists& lists, const SgdSettings& s, const Update& update) {
  const auto scale = update.grad_scale.defined() ? std::optional(update.grad_scale) : std::nullopt;
  const auto skip = update.skip.defined() ? std::optional(update.skip) : std::nullopt;
  const auto call = [&](const auto& rate) {
    at::_fused_sgd_(lists.parameters, lists.gradients, lists.slots.empty() ? at::TensorList() : lists.slots[0],
                    s.weight_decay, s.momentum, rate, s.dampening, s.nesterov, false, false, scale, skip);
  };
  if (update.learning_rate.on_host()) return call(update.learning_rate.value());
  call(update.learning_rate.tensor());
}

}  // namespace

void sgd_(Lists& lists, const SgdSettings& settings, const Update& update) {
  if (lists.parameters.empty()) return;
  if (!lists.parameters.front().is_cpu()) return sgd_fused(lists, settings, update);
  const HostUpdate host(update);
  if (host.skip) return;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, lists.parameters.front().scalar_type(), "sgd",
                                  [&] { sgd_cpu<scalar_t>(lists, settings, host); });
}

}  // namespace lope::kernels
