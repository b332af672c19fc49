#pragma once
// What an update did. Values stay on the device until somebody reads them.
//
//   lope::StepReport report = stepper.update();
//   lope::StepValues values = report.read();           // one transfer
//   if (values.skipped) ...

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lope {

/// The numbers of one update, on the host.
struct StepValues {
  double loss = 0;           ///< mean over the window's counted items; 0 when none counts
  double grad_norm = 0;      ///< 2-norm before clipping
  double learning_rate = 0;  ///< what the update used
  bool skipped = false;      ///< nothing was changed
  bool nonfinite = false;    ///< because the gradient was not finite
  double items = 0;          ///< counted items of the window
};

/// A handle to the numbers of one update.
class StepReport {
 public:
  StepReport() = default;
  explicit StepReport(at::Tensor values) : values_(std::move(values)) {}

  /// float64 {6}, on the model's device: loss, grad_norm, learning_rate, skipped, nonfinite, items.
  const at::Tensor& values() const { return values_; }
  /// Waits for the device and copies all of them.
  StepValues read() const;

 private:
  at::Tensor values_;
};

/// Sums over updates, on the host.
struct StepTotals {
  /// Since the last call of `take_totals`.
  double loss_sum = 0;  ///< of window means; NaN when a window's loss was
  int64_t windows = 0;  ///< windows with at least one counted item
  StepValues last;      ///< the latest update
  /// Since the start.
  int64_t applied = 0;        ///< updates that changed the parameters
  int64_t skipped = 0;        ///< updates that changed nothing
  int64_t nonfinite = 0;      ///< of those, because the gradient was not finite
  int64_t nonfinite_run = 0;  ///< non-finite updates in a row, up to now
};

}  // namespace lope
