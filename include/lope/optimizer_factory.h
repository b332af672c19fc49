#pragma once
// The optimizer that TrainingArguments ask for.
//
//   lope::TrainingArguments arguments{.optim = "sgd", .optim_args = "momentum=0.9,nesterov=true"};
//   auto optimizer = lope::make_optimizer(arguments, model);

#include <memory>

#include "lope/model.h"
#include "lope/optimizer.h"
#include "lope/training_arguments.h"

namespace lope {

/// Makes the optimizer called `optim` over all parameters of `model`, with `weight_decay` for those that decay
/// (`parameter_groups`). `optim_args` may hold, by name:
/// - sgd: momentum, dampening, nesterov
/// - adagrad: lr_decay, initial_accumulator_value, eps
/// - rmsprop: alpha, eps, momentum, centered
/// adamw_torch_fused, adamw_torch and adam take adam_beta1, adam_beta2 and adam_epsilon instead. On the CPU
/// adamw_torch, adagrad and rmsprop do torch.optim's operations one by one, with its bits; the others are fused. Throws
/// Error for another `optim`, and for an argument in `optim_args` that is unknown, of the wrong type or out of range.
std::unique_ptr<Optimizer> make_optimizer(const TrainingArguments& arguments, const Model& model);

}  // namespace lope
