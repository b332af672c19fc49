#include "lope/grad_scaler.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>

#include "lope/error.h"

namespace lope {
namespace {

GradScalerOptions checked(const GradScalerOptions& options) {
  const auto require = [](bool good, const char* name, double value, const char* allowed) {
    if (!good) throw Error(fmt::format("{} is {}: it must be {}", name, value, allowed));
  };
  const auto& o = options;
  require(o.init_scale > 0.0 && std::isfinite(o.init_scale), "init_scale", o.init_scale, "a finite number above 0");
  require(o.growth_factor > 1.0, "growth_factor", o.growth_factor, "above 1");
  require(o.backoff_factor > 0.0 && o.backoff_factor < 1.0, "backoff_factor", o.backoff_factor, "above 0 and below 1");
  require(o.growth_interval >= 1, "growth_interval", static_cast<double>(o.growth_interval), "1 or more");
  return options;
}

}  // namespace

GradScaler::GradScaler(at::Device device, GradScalerOptions options)
    : options_(checked(options)),
      scale_(at::full({1}, options_.init_scale, at::TensorOptions(device).dtype(at::kFloat))),
      growth_tracker_(at::zeros({1}, at::TensorOptions(device).dtype(at::kInt))) {}

at::Tensor GradScaler::unscale_(std::vector<at::Tensor>& gradients) const {
  at::Tensor found_inf = at::zeros({1}, scale_.options());
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, scale_.reciprocal());
  return found_inf;
}

void GradScaler::update(const at::Tensor& found_inf) {
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf, options_.growth_factor, options_.backoff_factor,
                         options_.growth_interval);
}

void GradScaler::load_state(const at::Tensor& scale, const at::Tensor& growth_tracker) {
  if (scale.numel() != 1 || growth_tracker.numel() != 1) {
    throw Error("scaler state: scale and growth tracker must be one number each: the state is damaged");
  }
  scale_.copy_(scale.reshape({1}));
  growth_tracker_.copy_(growth_tracker.reshape({1}));
}

}  // namespace lope
