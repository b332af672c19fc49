#include "stepper_impl.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lope/error.h"
#include "lope/gradients.h"
#include "step_values.h"

namespace lope {
namespace {

constexpr int64_t kTotals = sizeof(window::Totals) / sizeof(double);
constexpr int64_t kValues = sizeof(window::Values) / sizeof(double);

/// The optimizer's parameters in the model's order, which the sum of the norm depends on, then those not in the model.
std::vector<Parameter> all_parameters(const Model& model, const Optimizer& optimizer) {
  std::unordered_map<const void*, size_t> place;
  for (const auto& parameter : model.parameters()) place.emplace(parameter.tensor.unsafeGetTensorImpl(), place.size());
  std::vector<Parameter> all;
  for (const auto& group : optimizer.groups()) {
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  }
  const auto rank = [&](const Parameter& parameter) {
    const auto found = place.find(parameter.tensor.unsafeGetTensorImpl());
    return found == place.end() ? place.size() : found->second;
  };
  std::stable_sort(all.begin(), all.end(), [&](const Parameter& a, const Parameter& b) { return rank(a) < rank(b); });
  return all;
}

at::Device only_device(const std::vector<Parameter>& parameters) {
  const at::Device device = parameters.front().tensor.device();
  for (const auto& parameter : parameters) {
    if (parameter.tensor.device() == device) continue;
    throw Error(fmt::format("stepper: \"{}\" is on {} but \"{}\" on {}: put all parameters on one device",
                            parameter.name, parameter.tensor.device().str(), parameters.front().name, device.str()));
  }
  if (!device.is_cpu() && !device.is_cuda()) {
    throw Error(fmt::format("stepper: the model is on {}: it must be on cpu or cuda", device.str()));
  }
  return device;
}

StepperOptions checked(StepperOptions options) {
  const auto refuse = [](const char* name, double value, const char* allowed) {
    throw Error(fmt::format("{} is {}: it must be {}", name, value, allowed));
  };
  if (!(options.max_grad_norm >= 0.0)) refuse("max_grad_norm", options.max_grad_norm, "0 (no clipping) or more");
  if (!(options.max_grad_value >= 0.0)) refuse("max_grad_value", options.max_grad_value, "0 (no clipping) or more");
  if (options.expected_micro_batches < 1) {
    refuse("expected_micro_batches", static_cast<double>(options.expected_micro_batches), "1 or more");
  }
  return options;
}

at::Tensor as_scalar(const at::Tensor& tensor) { return tensor.dim() == 0 ? tensor : tensor.reshape({}); }

}  // namespace

Stepper::Impl::Impl(Model& model, Optimizer& optimizer, LossFunction loss, RateFunction learning_rate,
                    StepperOptions options)
    : model_(model),
      optimizer_(optimizer),
      loss_(std::move(loss)),
      learning_rate_(std::move(learning_rate)),
      options_(checked(options)),
      parameters_(all_parameters(model, optimizer)),
      device_(only_device(parameters_)),
      loss_sum_(device_, at::kDouble),
      items_(device_, at::kLong),
      rates_(device_),
      totals_(at::zeros({kTotals}, at::TensorOptions(device_).dtype(at::kDouble))),
      scalars_(at::zeros({5}, at::TensorOptions(device_).dtype(at::kFloat))),
      grad_scale_(scalars_.narrow(0, 0, 1)),
      grad_factor_(scalars_.narrow(0, 1, 1)),
      skip_(scalars_.narrow(0, 2, 1)),
      nonfinite_(scalars_.narrow(0, 3, 1)),
      rate_(scalars_.select(0, 4)) {
  if (!loss_) throw Error("stepper: there is no loss function: give a closure from a batch to its loss");
  if (!learning_rate_) throw Error("stepper: there is no learning rate: give a function of the update's number");
  if (options_.precision == Precision::kFp16) scaler_.emplace(device_, options_.scaler);
}

Loss Stepper::Impl::forward(const Batch& batch) {
  if (options_.precision == Precision::kFp32) return loss_(batch);
  const Autocast autocast(device_.type(), options_.precision);
  return loss_(batch);
}

void Stepper::Impl::accumulate(const Batch& micro_batch) {
  const at::AutoGradMode with_gradient(true);
  const Loss loss = forward(micro_batch.to(device_));
  if (micro_batches_ == 0) open_window(loss);
  backward(loss);
  loss_sum_.add(loss.sum.detach());
  loss.count.on_host() ? items_.add(static_cast<double>(loss.count.at_most())) : items_.add(loss.count.tensor());
  ++micro_batches_;
}

void Stepper::Impl::open_window(const Loss& loss) {
  const int64_t guess = loss.count.at_most() * options_.expected_micro_batches;
  reference_ = static_cast<double>(std::max<int64_t>(expected_items_ > 0 ? expected_items_ : guess, 1));
}

at::Tensor Stepper::Impl::root_gradient(const at::Tensor& sum) {
  const bool stale = !root_.defined() || root_reference_ != reference_ || root_.scalar_type() != sum.scalar_type();
  if (scaler_ && (stale || micro_batches_ == 0)) {
    root_ = (scaler_->scale().reshape({}) / reference_).to(sum.scalar_type());
  } else if (stale) {
    root_ = at::full({}, 1.0 / reference_, sum.options().requires_grad(false));
  }
  root_reference_ = reference_;
  return sum.dim() == 0 ? root_ : root_.reshape(sum.sizes());
}

void Stepper::Impl::backward(const Loss& loss) {
  if (!loss.sum.requires_grad()) {
    throw Error("loss function: its sum has no gradient: make it from the model's parameters, without NoGradGuard");
  }
  loss.sum.backward(root_gradient(loss.sum));
}

StepReport Stepper::Impl::update() {
  if (micro_batches_ == 0) throw Error("stepper: the window is empty: call accumulate at least once before update");
  const at::NoGradGuard no_grad;
  const auto found = gradients(parameters_);
  at::Tensor values = at::empty({kValues}, totals_.options());
  const LearningRate rate = finish(found, values);
  optimizer_.step({.learning_rate = rate, .grad_scale = grad_scale_, .grad_factor = grad_factor_, .skip = skip_});
  if (scaler_) scaler_->update(nonfinite_);
  ++attempted_;
  discard();
  return StepReport(std::move(values));
}

void Stepper::Impl::discard() {
  zero_grad(model_.parameters());
  zero_grad(parameters_);
  loss_sum_.clear();
  items_.clear();
  micro_batches_ = 0;
  expected_items_ = 0;
}

LearningRate Stepper::Impl::finish(const std::vector<at::Tensor>& gradients, const at::Tensor& values) {
  return device_.is_cpu() ? finish_on_cpu(gradients, values) : finish_on_device(gradients, values);
}

/// Clamps the gradients as they are, so that their normalised values end up within the limit.
void Stepper::Impl::clip_by_value(const std::vector<at::Tensor>& gradients) {
  at::Tensor items = at::full({}, items_.host(), totals_.options());
  if (items_.on_device()) items = items + items_.device();
  at::Tensor limit = items.clamp_min(1.0) * (options_.max_grad_value / reference_);
  if (scaler_) limit = limit * scaler_->scale().reshape({});
  for (const auto& gradient : gradients) {
    const at::Tensor own = limit.to(gradient.scalar_type());
    at::Tensor(gradient).clamp_(-own, own);
  }
}

LearningRate Stepper::Impl::finish_on_cpu(const std::vector<at::Tensor>& gradients, const at::Tensor& values) {
  auto& totals = *reinterpret_cast<window::Totals*>(totals_.mutable_data_ptr<double>());
  window::Inputs inputs{.loss_sum = loss_sum_.host(), .items = items_.host()};
  inputs.norm = inputs.clip_norm = cpu_value(grad_norm(gradients));
  if (options_.max_grad_value > 0.0) {
    clip_by_value(gradients);
    inputs.clip_norm = cpu_value(grad_norm(gradients));
  }
  if (scaler_) inputs.scale = cpu_value(scaler_->scale());
  inputs.learning_rate = learning_rate_(static_cast<int64_t>(totals.applied));
  window::finish({.reference = reference_, .max_grad_norm = options_.max_grad_norm}, inputs, totals,
                 *reinterpret_cast<window::Values*>(values.mutable_data_ptr<double>()),
                 *reinterpret_cast<window::Scalars*>(scalars_.mutable_data_ptr<float>()));
  return inputs.learning_rate;
}

void Stepper::Impl::prepare_rates() {
  if (rates_.covers(attempted_)) return;
  if (attempted_ - applied_at_least_ >= RateTable::kSize) {
    // The one host read in 65536 updates: where the table goes on.
    const at::Tensor host = totals_.cpu();
    applied_at_least_ =
        static_cast<int64_t>(reinterpret_cast<const window::Totals*>(host.const_data_ptr<double>())->applied);
  }
  rates_.fill(learning_rate_, applied_at_least_);
}

LearningRate Stepper::Impl::finish_on_device(const std::vector<at::Tensor>& gradients, const at::Tensor& values) {
  prepare_rates();
  const at::Tensor norm = as_scalar(grad_norm(gradients)).to(device_, at::kFloat);
  at::Tensor clip_norm = norm;
  if (options_.max_grad_value > 0.0) {
    clip_by_value(gradients);
    clip_norm = as_scalar(grad_norm(gradients)).to(device_, at::kFloat);
  }
  window::finish_on_cuda({.reference = reference_, .max_grad_norm = options_.max_grad_norm},
                         {.norm = norm.const_data_ptr<float>(),
                          .clip_norm = clip_norm.const_data_ptr<float>(),
                          .loss_sum = loss_sum_.device().const_data_ptr<double>(),
                          .items = items_.on_device() ? items_.device().const_data_ptr<int64_t>() : nullptr,
                          .host_items = items_.host(),
                          .scale = scaler_ ? scaler_->scale().const_data_ptr<float>() : nullptr,
                          .rates = rates_.rates().const_data_ptr<double>(),
                          .first_rate = rates_.first(),
                          .rate_count = RateTable::kSize},
                         totals_, values, scalars_);
  return LearningRate(rate_);
}

void Stepper::Impl::set_learning_rate(RateFunction learning_rate) {
  learning_rate_ = std::move(learning_rate);
  rates_.invalidate();
}

StepTotals Stepper::Impl::take_totals() {
  const at::Tensor host = totals_.is_cpu() ? totals_.clone() : totals_.cpu();
  const auto& totals = *reinterpret_cast<const window::Totals*>(host.const_data_ptr<double>());
  totals_.narrow(0, 0, 2).zero_();
  applied_at_least_ = static_cast<int64_t>(totals.applied);
  const auto count = [](double value) { return static_cast<int64_t>(value); };
  return {.loss_sum = totals.loss_sum,
          .windows = count(totals.windows),
          .last = to_step_values(totals.last),
          .applied = count(totals.applied),
          .skipped = count(totals.skipped),
          .nonfinite = count(totals.nonfinite),
          .nonfinite_run = count(totals.nonfinite_run)};
}

}  // namespace lope
