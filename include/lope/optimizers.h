#pragma once
// The optimizers. All skip on the device, keep their state by parameter name, and make no host read.
//
//   lope::AdamW adamw(lope::parameter_groups(model, 0.01), {.betas = {0.9, 0.95}});
//   lope::SGD sgd(lope::parameter_groups(model, 0.0), {.momentum = 0.9, .nesterov = true});

#include <memory>
#include <utility>
#include <vector>

#include "lope/optimizer.h"

namespace lope {

class OptimizerState;

/// An optimizer whose state is tensors of the parameters' shapes (slots) and a count of updates for each parameter.
class SlotOptimizer : public Optimizer {
 public:
  ~SlotOptimizer() override;

  void step(const Update& update) override;
  void reset() override;
  TensorMap state() const override;
  void load_state(const TensorMap& state) override;

 protected:
  SlotOptimizer(std::vector<ParameterGroup> groups, std::vector<std::string> slots, double initial_value = 0.0);

  struct GroupUpdate;
  /// One group's update, over the parameters that have a gradient.
  virtual void apply(GroupUpdate& group) = 0;

 private:
  std::unique_ptr<OptimizerState> state_;
};

struct AdamOptions {
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  /// False: on the CPU the operations of torch.optim one by one, slower and with the bits of Python's runs.
  bool fused = true;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019); numbers as torch.optim.AdamW.
class AdamW : public SlotOptimizer {
 public:
  /// Throws Error for betas outside [0, 1) or a negative eps.
  explicit AdamW(std::vector<ParameterGroup> groups, AdamOptions options = {});

 protected:
  void apply(GroupUpdate& group) override;

 private:
  AdamOptions options_;
};

/// Adam (Kingma and Ba 2015); weight decay is added to the gradient; numbers as torch.optim.Adam.
class Adam : public SlotOptimizer {
 public:
  /// Throws Error for betas outside [0, 1) or a negative eps.
  explicit Adam(std::vector<ParameterGroup> groups, AdamOptions options = {});

 protected:
  void apply(GroupUpdate& group) override;

 private:
  AdamOptions options_;
};

struct SGDOptions {
  double momentum = 0.0;
  double dampening = 0.0;
  bool nesterov = false;
};

/// Stochastic gradient descent; numbers as torch.optim.SGD. On CUDA a dampening above 0 also damps the first gradient.
class SGD : public SlotOptimizer {
 public:
  /// Throws Error for a negative momentum, and for nesterov without momentum or with dampening.
  explicit SGD(std::vector<ParameterGroup> groups, SGDOptions options = {});

 protected:
  void apply(GroupUpdate& group) override;

 private:
  SGDOptions options_;
};

struct AdagradOptions {
  double lr_decay = 0.0;
  double initial_accumulator_value = 0.0;
  double eps = 1e-10;
  /// As in AdamOptions.
  bool fused = true;
};

/// Adagrad (Duchi et al. 2011); numbers as torch.optim.Adagrad.
class Adagrad : public SlotOptimizer {
 public:
  /// Throws Error for a negative option.
  explicit Adagrad(std::vector<ParameterGroup> groups, AdagradOptions options = {});

 protected:
  void apply(GroupUpdate& group) override;

 private:
  AdagradOptions options_;
};

struct RMSpropOptions {
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0.0;
  bool centered = false;
  /// As in AdamOptions.
  bool fused = true;
};

/// RMSprop (Hinton 2012); numbers as torch.optim.RMSprop.
class RMSprop : public SlotOptimizer {
 public:
  /// Throws Error for alpha outside [0, 1) or a negative option.
  explicit RMSprop(std::vector<ParameterGroup> groups, RMSpropOptions options = {});

 protected:
  void apply(GroupUpdate& group) override;

 private:
  void apply_on_device(GroupUpdate& group);

  RMSpropOptions options_;
};

}  // namespace lope
