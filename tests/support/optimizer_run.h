#pragma once
// Parameters and gradients of a short run, the same for an optimizer and for what it is compared with.
//
//   const Tensors parameters = some_tensors(1, at::kFloat);
//   next_gradients(parameters, step);      // the same for whoever makes step number `step`

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <lope/optimizer.h>

#include <string>
#include <vector>

namespace lope::testing {

using Tensors = std::vector<at::Tensor>;

/// Short, longer than one range of the CPU kernels, and channels-last.
inline Tensors some_tensors(uint64_t seed, at::TensorOptions options) {
  at::manual_seed(seed);
  const auto make = [&](std::vector<int64_t> shape) { return at::randn(shape, at::kDouble).to(options); };
  return {make({3}), make({100, 101}), make({8, 3, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast)};
}

inline Tensors clones(const Tensors& tensors) {
  Tensors copies;
  for (const auto& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

/// Named p0, p1, …; they share the tensors.
inline ParameterGroup group_of(const Tensors& tensors, double weight_decay = 0.0) {
  ParameterGroup group{.parameters = {}, .weight_decay = weight_decay};
  for (size_t i = 0; i < tensors.size(); ++i) {
    group.parameters.push_back({"p" + std::to_string(i), at::Tensor(tensors[i]).requires_grad_()});
  }
  return group;
}

inline void set_gradients(const Tensors& parameters, const Tensors& gradients) {
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].mutable_grad() = gradients[i].clone();
}

/// Step `step` of a run: fresh gradients, the same for everyone; in odd steps not laid out as their parameters.
inline void next_gradients(const Tensors& parameters, int step) {
  Tensors gradients = some_tensors(1000 + static_cast<uint64_t>(step), parameters.front().options());
  if (step % 2 == 1) gradients.back() = gradients.back().contiguous();
  set_gradients(parameters, gradients);
}

inline double largest_difference(const Tensors& left, const Tensors& right) {
  double largest = 0.0;
  for (size_t i = 0; i < left.size(); ++i) {
    const at::Tensor gap = (left[i].detach().to(at::kDouble) - right[i].detach().to(at::kDouble)).abs().max();
    // NaN must not pass.
    if (!(gap.item<double>() <= largest)) largest = gap.item<double>();
  }
  return largest;
}

}  // namespace lope::testing
