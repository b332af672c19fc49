#include "lope/gradients.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include "lope/error.h"

namespace lope {

std::vector<at::Tensor> gradients(std::span<const Parameter> parameters) {
  std::vector<at::Tensor> found;
  found.reserve(parameters.size());
  for (const auto& parameter : parameters) {
    const at::Tensor& gradient = parameter.tensor.grad();
    if (!gradient.defined()) continue;
    if (gradient.layout() != at::kStrided) {
      throw Error(fmt::format("gradient of \"{}\" is sparse: make it dense, for example with Embedding's sparse(false)",
                              parameter.name));
    }
    found.push_back(gradient);
  }
  return found;
}

at::Tensor grad_norm(const std::vector<at::Tensor>& gradients) {
  if (gradients.empty()) return at::scalar_tensor(0.0, at::TensorOptions(at::kFloat));
  const at::NoGradGuard no_grad;
  const auto type = gradients.front().scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2, type)));
}

at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& gradients, double max_norm) {
  if (!(max_norm > 0.0)) throw Error(fmt::format("max_norm is {}: it must be above 0", max_norm));
  const at::NoGradGuard no_grad;
  at::Tensor norm = grad_norm(gradients);
  if (!gradients.empty()) at::_foreach_mul_(gradients, (max_norm / (norm + 1e-6)).clamp_max(1.0));
  return norm;
}

void clip_grad_value_(const std::vector<at::Tensor>& gradients, double max_value) {
  if (!(max_value > 0.0)) throw Error(fmt::format("max_value is {}: it must be above 0", max_value));
  const at::NoGradGuard no_grad;
  for (const auto& gradient : gradients) at::Tensor(gradient).clamp_(-max_value, max_value);
}

void zero_grad(std::span<const Parameter> parameters) {
  for (const auto& parameter : parameters) parameter.tensor.mutable_grad().reset();
}

}  // namespace lope
