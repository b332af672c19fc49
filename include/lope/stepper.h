#pragma once
// Micro-batches in, one optimizer step out: the layer for loops of your own.
//
//   lope::Stepper stepper(model, optimizer, loss, [](int64_t step) { return 3e-4; }, {.max_grad_norm = 1.0});
//   for (auto& window : windows) stepper.step(window);           // a list of micro-batches
//   stepper.accumulate(a); stepper.accumulate(b); stepper.update();      // or one by one

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "lope/autocast.h"
#include "lope/batch.h"
#include "lope/grad_scaler.h"
#include "lope/loss.h"
#include "lope/model.h"
#include "lope/optimizer.h"
#include "lope/step_report.h"
#include "lope/tensor_map.h"

namespace lope {

/// Learning rate at applied update `step` (0 for the first): a pure function.
using RateFunction = std::function<double(int64_t step)>;

struct StepperOptions {
  Precision precision = Precision::kFp32;
  /// Gradients are scaled down to this 2-norm; 0 turns clipping off. The norm is reported either way.
  double max_grad_norm = 1.0;
  /// Gradients are clamped to ± this before their norm is clipped; 0 turns it off.
  double max_grad_value = 0.0;
  /// For fp16.
  GradScalerOptions scaler = {};
  /// Micro-batches that a window usually has. It only sets how far gradients are scaled down during the window, which
  /// cancels out: the result does not depend on it.
  int64_t expected_micro_batches = 1;
};

/// Turns micro-batches into one optimizer step and does nothing else. The gradient of a window is the gradient of the
/// mean over all its counted items, whatever the sizes of its micro-batches. A window whose gradient is not finite, or
/// in which no item counts, changes nothing. No host read in either call. Model, optimizer and loss outlive the
/// stepper.
class Stepper {
 public:
  /// Throws Error for negative clipping limits, an empty loss, or parameters on several devices.
  Stepper(Model& model, Optimizer& optimizer, LossFunction loss, RateFunction learning_rate,
          StepperOptions options = {});
  ~Stepper();
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;

  /// One window: `accumulate` for each micro-batch, then `update`.
  StepReport step(std::span<const Batch> micro_batches);
  /// Moves a micro-batch to the model's device and adds its gradients to the window. When the loss throws, the window
  /// is as it was before the call, but for gradients that an interrupted backward pass had already added.
  void accumulate(const Batch& micro_batch);
  /// Before a window: how many items it will have, where the host can count them. Gradients then have their final size
  /// from the first micro-batch on, and round as those of a loss that is divided by the whole count. It is a hint: the
  /// result is normalised by the items that the loss function counts.
  void expect_items(int64_t items);
  /// Ends the window: normalises, clips and steps. Throws Error when the window has no micro-batch.
  StepReport update();
  /// Drops the window and its gradients.
  void discard();

  /// Micro-batches in the open window.
  int64_t window_size() const;
  /// Loss and counts since the last call, and since the start. Reads the device once.
  StepTotals take_totals();
  /// Replaces the schedule: used from the next update on.
  void set_learning_rate(RateFunction learning_rate);
  /// The scaler of an fp16 stepper, else nullptr.
  GradScaler* scaler();

  /// What a checkpoint keeps between two windows: sums and counts ("totals"), and in fp16 "scaler.scale" and
  /// "scaler.growth_tracker". The tensors are the stepper's own, on its device: copy them before the next window.
  TensorMap state() const;
  /// Goes on from such a state, on any device. A state without scaler leaves the scaler as it is. Throws Error when it
  /// is of another kind, or a window is open; then nothing changes.
  void load_state(const TensorMap& state);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lope
