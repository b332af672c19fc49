#include "lope/optimizers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "kernels/kernels.h"
#include "lope/error.h"
#include "optimizer_state.h"

namespace lope {
namespace {

void check_not_negative(const char* name, double value) {
  if (value >= 0.0) return;
  throw Error(fmt::format("{} is {}: it must be 0 or more", name, value));
}

void check_fraction(const char* name, double value) {
  if (value >= 0.0 && value < 1.0) return;
  throw Error(fmt::format("{} is {}: it must be 0 or more and below 1", name, value));
}

AdamOptions checked(AdamOptions options) {
  check_fraction("beta1", options.betas.first);
  check_fraction("beta2", options.betas.second);
  check_not_negative("eps", options.eps);
  return options;
}

SGDOptions checked(SGDOptions options) {
  check_not_negative("momentum", options.momentum);
  if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0)) {
    throw Error("nesterov is on: it needs a momentum above 0 and a dampening of 0");
  }
  return options;
}

AdagradOptions checked(AdagradOptions options) {
  check_not_negative("lr_decay", options.lr_decay);
  check_not_negative("initial_accumulator_value", options.initial_accumulator_value);
  check_not_negative("eps", options.eps);
  return options;
}

std::vector<std::string> momentum_slot(double momentum) {
  return momentum > 0.0 ? std::vector<std::string>{"momentum_buffer"} : std::vector<std::string>{};
}

kernels::AdamSettings adam_settings(const AdamOptions& options, double weight_decay, bool decoupled) {
  return {.beta1 = options.betas.first,
          .beta2 = options.betas.second,
          .epsilon = options.eps,
          .weight_decay = weight_decay,
          .decoupled = decoupled,
          .fused = options.fused};
}

LearningRate scaled(const LearningRate& rate, double factor) {
  if (factor == 1.0) return rate;
  return rate.on_host() ? LearningRate(rate.value() * factor) : LearningRate(rate.tensor() * factor);
}

}  // namespace

SlotOptimizer::SlotOptimizer(std::vector<ParameterGroup> groups, std::vector<std::string> slots, double initial_value)
    : Optimizer(std::move(groups)),
      state_(std::make_unique<OptimizerState>(groups_, std::move(slots), initial_value)) {}

SlotOptimizer::~SlotOptimizer() = default;

void SlotOptimizer::step(const Update& update) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < groups_.size(); ++i) {
    GroupUpdate group{.lists = state_->collect(i, update.skip),
                      .update = {.learning_rate = scaled(update.learning_rate, groups_[i].lr_scale),
                                 .grad_scale = update.grad_scale,
                                 .grad_factor = update.grad_factor,
                                 .skip = update.skip},
                      .weight_decay = groups_[i].weight_decay};
    if (!group.lists.parameters.empty()) apply(group);
  }
}

void SlotOptimizer::reset() { state_->reset(); }

TensorMap SlotOptimizer::state() const { return state_->state(); }

void SlotOptimizer::load_state(const TensorMap& state) { state_->load_state(state); }

AdamW::AdamW(std::vector<ParameterGroup> groups, AdamOptions options)
    : SlotOptimizer(std::move(groups), {"exp_avg", "exp_avg_sq"}), options_(checked(options)) {}

void AdamW::apply(GroupUpdate& group) {
  kernels::adam_(group.lists, adam_settings(options_, group.weight_decay, true), group.update);
}

Adam::Adam(std::vector<ParameterGroup> groups, AdamOptions options)
    : SlotOptimizer(std::move(groups), {"exp_avg", "exp_avg_sq"}), options_(checked(options)) {}

void Adam::apply(GroupUpdate& group) {
  kernels::adam_(group.lists, adam_settings(options_, group.weight_decay, false), group.update);
}

SGD::SGD(std::vector<ParameterGroup> groups, SGDOptions options)
    : SlotOptimizer(std::move(groups), momentum_slot(options.momentum)), options_(checked(options)) {}

void SGD::apply(GroupUpdate& group) {
  kernels::sgd_(group.lists,
                {.momentum = options_.momentum,
                 .dampening = options_.dampening,
                 .weight_decay = group.weight_decay,
                 .nesterov = options_.nesterov},
                group.update);
}

Adagrad::Adagrad(std::vector<ParameterGroup> groups, AdagradOptions options)
    : SlotOptimizer(std::move(groups), {"sum"}, checked(options).initial_accumulator_value), options_(options) {}

void Adagrad::apply(GroupUpdate& group) {
  kernels::adagrad_(group.lists,
                    {.lr_decay = options_.lr_decay,
                     .epsilon = options_.eps,
                     .weight_decay = group.weight_decay,
                     .fused = options_.fused},
                    group.update);
}

}  // namespace lope
