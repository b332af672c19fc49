// The operations of torch.optim one by one: slower than the fused kernels, and equal to Python's runs to the bit.

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>

#include <cmath>

#include "kernels/kernels.h"

namespace lope::kernels {
namespace {

at::Tensor scaled(const at::Tensor& gradient, double factor) { return factor == 1.0 ? gradient : gradient * factor; }

}  // namespace

void adam_eager_(Lists& lists, const AdamSettings& s, const HostUpdate& update) {
  for (size_t i = 0; i < lists.parameters.size(); ++i) {
    at::Tensor& parameter = lists.parameters[i];
    const auto step = static_cast<double>(*lists.steps[i].const_data_ptr<float>());
    at::Tensor gradient = scaled(lists.gradients[i], update.inverse_scale);
    if (s.decoupled) parameter.mul_(1.0 - update.learning_rate * s.weight_decay);
    if (!s.decoupled && s.weight_decay != 0.0) gradient = gradient.add(parameter, s.weight_decay);
    at::Tensor& first = lists.slots[0][i].lerp_(gradient, 1.0 - s.beta1);
    at::Tensor& second = lists.slots[1][i].mul_(s.beta2).addcmul_(gradient, gradient, 1.0 - s.beta2);
    const at::Tensor denominator = (second.sqrt() / std::sqrt(1.0 - std::pow(s.beta2, step))).add_(s.epsilon);
    parameter.addcdiv_(first, denominator, -(update.learning_rate / (1.0 - std::pow(s.beta1, step))));
  }
}

void adagrad_eager_(Lists& lists, const AdagradSettings& s, const HostUpdate& update) {
  for (size_t i = 0; i < lists.parameters.size(); ++i) {
    at::Tensor& parameter = lists.parameters[i];
    const auto step = static_cast<double>(*lists.steps[i].const_data_ptr<float>());
    at::Tensor gradient = scaled(lists.gradients[i], update.inverse_scale);
    if (s.weight_decay != 0.0) gradient = gradient.add(parameter, s.weight_decay);
    const at::Tensor deviation = lists.slots[0][i].addcmul_(gradient, gradient, 1.0).sqrt().add_(s.epsilon);
    parameter.addcdiv_(gradient, deviation, -(update.learning_rate / (1.0 + (step - 1.0) * s.lr_decay)));
  }
}

void rmsprop_eager_(Lists& lists, const RmspropSettings& s, const HostUpdate& update) {
  for (size_t i = 0; i < lists.parameters.size(); ++i) {
    at::Tensor& parameter = lists.parameters[i];
    at::Tensor gradient = scaled(lists.gradients[i], update.inverse_scale);
    if (s.weight_decay != 0.0) gradient = gradient.add(parameter, s.weight_decay);
    const at::Tensor& square = lists.slots[0][i].mul_(s.alpha).addcmul_(gradient, gradient, 1.0 - s.alpha);
    at::Tensor variance = square;
    if (s.centered) {
      const at::Tensor& mean = lists.slots.back()[i].lerp_(gradient, 1.0 - s.alpha);
      variance = square.addcmul(mean, mean, -1.0);
    }
    const at::Tensor deviation = variance.sqrt().add_(s.epsilon);
    if (s.momentum > 0.0) {
      parameter.add_(lists.slots[1][i].mul_(s.momentum).addcdiv_(gradient, deviation), -update.learning_rate);
    } else {
      parameter.addcdiv_(gradient, deviation, -update.learning_rate);
    }
  }
}

}  // namespace lope::kernels
