#pragma once
// What every optimizer has: groups of named parameters, state by name, and a step that can be skipped on the device.
//
//   lope::AdamW optimizer(lope::parameter_groups(model, 0.01), {.betas = {0.9, 0.95}});     // optimizers.h
//   loss.backward();
//   optimizer.step({.learning_rate = 3e-4});

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lope/learning_rate.h"
#include "lope/model.h"
#include "lope/tensor_map.h"

namespace lope {

/// Parameters that share settings.
struct ParameterGroup {
  std::vector<Parameter> parameters;
  double weight_decay = 0.0;
  /// Factor of the learning rate for this group.
  double lr_scale = 1.0;
};

/// Two groups: parameters that decay, with `weight_decay`, and biases and normalisation layers, without. An empty group
/// is left out.
std::vector<ParameterGroup> parameter_groups(const Model& model, double weight_decay);

/// Everything that one step depends on besides gradients and state.
struct Update {
  LearningRate learning_rate = 0.0;
  /// float32 {1}: gradients are divided by it first. Undefined: by 1.
  at::Tensor grad_scale = {};
  /// float32 {1}: the same as a factor, for kernels that multiply. Undefined: 1 / grad_scale.
  at::Tensor grad_factor = {};
  /// float32 {1}: 1 leaves parameters and state untouched. Undefined: 0.
  at::Tensor skip = {};
};

/// Changes parameters in place by their gradients. A parameter without a gradient is left alone.
class Optimizer {
 public:
  /// Throws Error when there is no parameter, one is given twice, or devices or types within a group differ.
  explicit Optimizer(std::vector<ParameterGroup> groups);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update. Makes no host read. Gradients are unspecified afterwards.
  virtual void step(const Update& update) = 0;

  /// Back to the state of a new optimizer.
  virtual void reset() = 0;
  /// State by "<parameter name>.<what>", for example "wte.weight.exp_avg", and "step".
  virtual TensorMap state() const = 0;
  /// Copies the state in. Throws Error, naming what does not fit, when names, shapes or types differ; then nothing
  /// changes.
  virtual void load_state(const TensorMap& state) = 0;

  const std::vector<ParameterGroup>& groups() const { return groups_; }

 protected:
  std::vector<ParameterGroup> groups_;
};

}  // namespace lope
