#pragma once
// Norm and clipping of gradients, for loops of your own. Nothing here reads a device value on the host.
//
//   at::Tensor norm = lope::clip_grad_norm_(lope::gradients(model.parameters()), 1.0);

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "lope/model.h"

namespace lope {

/// The gradients there are; parameters without one are left out. Throws Error naming a parameter with a sparse
/// gradient.
std::vector<at::Tensor> gradients(std::span<const Parameter> parameters);

/// 2-norm over all elements of all tensors, float32 (float64 for float64 tensors), scalar on their device.
at::Tensor grad_norm(const std::vector<at::Tensor>& gradients);

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ does. Returns the norm
/// before clipping. Throws Error when `max_norm` is not above 0.
at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& gradients, double max_norm);

/// Clamps every element to [−max_value, max_value]. Throws Error when `max_value` is not above 0.
void clip_grad_value_(const std::vector<at::Tensor>& gradients, double max_value);

/// Drops the gradients, so that the next backward pass allocates them.
void zero_grad(std::span<const Parameter> parameters);

}  // namespace lope
