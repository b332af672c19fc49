#pragma once
// What a Stepper holds: the open window, the sums over windows, and the steps from one to the other.

#include <optional>
#include <vector>

#include "device_sum.h"
#include "lope/stepper.h"
#include "rate_table.h"
#include "window_end.h"

namespace lope {

class Stepper::Impl {
 public:
  Impl(Model& model, Optimizer& optimizer, LossFunction loss, RateFunction learning_rate, StepperOptions options);

  void accumulate(const Batch& micro_batch);
  StepReport update();
  void discard();
  StepTotals take_totals();

  void expect_items(int64_t items) { expected_items_ = items; }
  int64_t micro_batches() const { return micro_batches_; }
  void set_learning_rate(RateFunction learning_rate);
  GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }
  TensorMap state() const;
  void load_state(const TensorMap& state);

 private:
  Loss forward(const Batch& batch);
  void backward(const Loss& loss);
  void open_window(const Loss& loss);
  at::Tensor root_gradient(const at::Tensor& sum);
  void clip_by_value(const std::vector<at::Tensor>& gradients);

  /// Fills values and scalars; returns the learning rate of this update.
  LearningRate finish(const std::vector<at::Tensor>& gradients, const at::Tensor& values);
  LearningRate finish_on_cpu(const std::vector<at::Tensor>& gradients, const at::Tensor& values);
  LearningRate finish_on_device(const std::vector<at::Tensor>& gradients, const at::Tensor& values);
  void prepare_rates();

  Model& model_;
  Optimizer& optimizer_;
  LossFunction loss_;
  RateFunction learning_rate_;
  StepperOptions options_;
  std::vector<Parameter> parameters_;
  at::Device device_;
  std::optional<GradScaler> scaler_;

  int64_t micro_batches_ = 0;
  int64_t expected_items_ = 0;
  double reference_ = 1.0;
  at::Tensor root_;
  double root_reference_ = 0.0;
  DeviceSum loss_sum_;
  DeviceSum items_;

  RateTable rates_;
  int64_t attempted_ = 0;
  int64_t applied_at_least_ = 0;
  /// window::Totals, as float64.
  at::Tensor totals_;
  /// window::Scalars, as float32, and views of it.
  at::Tensor scalars_;
  at::Tensor grad_scale_;
  at::Tensor grad_factor_;
  at::Tensor skip_;
  at::Tensor nonfinite_;
  at::Tensor rate_;
};

}  // namespace lope
