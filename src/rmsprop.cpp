// RMSprop has no fused kernel in ATen: an own kernel on the CPU, elsewhere lists of operations with a skip that never
// leaves the device.

#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include "lope/error.h"
#include "lope/optimizers.h"
#include "optimizer_state.h"

namespace lope {
namespace {

RMSpropOptions checked(const RMSpropOptions& options) {
  if (options.alpha < 0.0 || options.alpha >= 1.0) {
    throw Error(fmt::format("alpha is {}: it must be 0 or more and below 1", options.alpha));
  }
  if (options.eps < 0.0) throw Error(fmt::format("eps is {}: it must be 0 or more", options.eps));
  if (options.momentum < 0.0) throw Error(fmt::format("momentum is {}: it must be 0 or more", options.momentum));
  return options;
}

std::vector<std::string> slot_names(const RMSpropOptions& options) {
  std::vector<std::string> names{"square_avg"};
  if (options.momentum > 0.0) names.emplace_back("momentum_buffer");
  if (options.centered) names.emplace_back("grad_avg");
  return names;
}

/// Old values wherever the update is skipped, whatever the new ones are.
void commit(std::vector<at::Tensor>& old_values, const std::vector<at::Tensor>& new_values, const at::Tensor& skip) {
  if (!skip.defined()) {
    for (size_t i = 0; i < old_values.size(); ++i) old_values[i].copy_(new_values[i]);
    return;
  }
  const at::Tensor keep = skip.reshape({}).to(at::kBool);
  for (size_t i = 0; i < old_values.size(); ++i) old_values[i].copy_(at::where(keep, old_values[i], new_values[i]));
}

std::vector<at::Tensor> scaled_gradients(const kernels::Lists& lists, const Update& update, double weight_decay) {
  auto gradients = update.grad_scale.defined()
                       ? at::_foreach_mul(lists.gradients, update.grad_scale.reshape({}).reciprocal())
                       : lists.gradients;
  return weight_decay == 0.0 ? gradients : at::_foreach_add(gradients, lists.parameters, weight_decay);
}

std::vector<at::Tensor> root_mean_square(const std::vector<at::Tensor>& squares, const std::vector<at::Tensor>& means,
                                         double epsilon) {
  auto root =
      means.empty() ? at::_foreach_sqrt(squares) : at::_foreach_sqrt(at::_foreach_addcmul(squares, means, means, -1.0));
  at::_foreach_add_(root, epsilon);
  return root;
}

}  // namespace

RMSprop::RMSprop(std::vector<ParameterGroup> groups, RMSpropOptions options)
    : SlotOptimizer(std::move(groups), slot_names(checked(options))), options_(options) {}

void RMSprop::apply(GroupUpdate& group) {
  if (group.lists.parameters.front().is_cpu()) {
    return kernels::rmsprop_cpu_(group.lists,
                                 {.alpha = options_.alpha,
                                  .epsilon = options_.eps,
                                  .momentum = options_.momentum,
                                  .weight_decay = group.weight_decay,
                                  .centered = options_.centered,
                                  .fused = options_.fused},
                                 group.update);
  }
  apply_on_device(group);
}

void RMSprop::apply_on_device(GroupUpdate& group) {
  auto& [parameters, gradients, steps, slots] = group.lists;
  const at::Tensor& skip = group.update.skip;
  const auto scaled = scaled_gradients(group.lists, group.update, group.weight_decay);
  auto squares = at::_foreach_mul(slots[0], options_.alpha);
  at::_foreach_addcmul_(squares, scaled, scaled, 1.0 - options_.alpha);
  std::vector<at::Tensor> means;
  if (options_.centered) means = at::_foreach_lerp(slots.back(), scaled, 1.0 - options_.alpha);
  auto direction = at::_foreach_div(scaled, root_mean_square(squares, means, options_.eps));
  if (options_.momentum > 0.0) {
    direction = at::_foreach_add(at::_foreach_mul(slots[1], options_.momentum), direction);
    commit(slots[1], direction, skip);
  }
  const LearningRate& rate = group.update.learning_rate;
  const auto change =
      rate.on_host() ? at::_foreach_mul(direction, rate.value()) : at::_foreach_mul(direction, rate.tensor());
  commit(parameters, at::_foreach_sub(parameters, change), skip);
  commit(slots[0], squares, skip);
  if (options_.centered) commit(slots.back(), means, skip);
}

}  // namespace lope
