#pragma once
// The seam for everything that watches or steers a run: logging, progress, early stopping, checkpoints, your own.
//
//   struct StopAtLoss : lope::Callback {
//     void on_log(const lope::TrainingContext&, const lope::LogEntry& entry, lope::Control& control) override {
//       if (entry.find("loss").value_or(1e9) < 0.1) control.stop = true;
//     }
//   };

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lope/metrics.h"
#include "lope/plan.h"
#include "lope/progress.h"
#include "lope/stepper.h"
#include "lope/tensor_map.h"
#include "lope/training_arguments.h"

namespace lope {

/// What a callback may ask for; the Trainer acts on it after the event and clears it (all but `stop`).
struct Control {
  bool stop = false;      ///< end the training after this update
  bool log = false;       ///< write a log entry now
  bool evaluate = false;  ///< evaluate now
  bool save = false;      ///< save a checkpoint now
};

/// The best evaluation so far.
struct BestMetric {
  double value = 0;
  int64_t step = 0;

  bool operator==(const BestMetric&) const = default;
};

/// What a callback may look at. The references are valid during the call.
struct TrainingContext {
  const TrainingArguments& arguments;
  const Plan& plan;
  const Progress& progress;
  /// Fraction of epochs done, as it is reported.
  double epoch;
  const std::vector<LogEntry>& log_history;
  /// By `metric_for_best_model`; nullopt before the first evaluation with a finite metric.
  const std::optional<BestMetric>& best;
  /// Where the best evaluation that a checkpoint was saved of is; empty when there is none.
  const std::filesystem::path& best_model_checkpoint;
};

/// Override what you need. Callbacks are called in the order in which they were given. They must not change the model.
class Callback {
 public:
  virtual ~Callback() = default;

  /// Also when training is resumed: then `progress.step` is not 0, and `load_state` has been called before.
  virtual void on_train_begin(const TrainingContext&, Control&) {}
  virtual void on_epoch_begin(const TrainingContext&, Control&) {}
  /// After an optimizer update. Reading a value of the report waits for the device.
  virtual void on_step_end(const TrainingContext&, const StepReport&, Control&) {}
  virtual void on_epoch_end(const TrainingContext&, Control&) {}
  /// A log entry was added: a training, an evaluation or the final one.
  virtual void on_log(const TrainingContext&, const LogEntry&, Control&) {}
  /// Before the first batch, and after each batch, of an evaluation or prediction of `total` batches.
  virtual void on_evaluation_step(const TrainingContext&, int64_t done, int64_t total) { (void)done, (void)total; }
  virtual void on_evaluate(const TrainingContext&, const Metrics&, Control&) {}
  /// A checkpoint is whole under this path. With saving in the background it is of an earlier update.
  virtual void on_save(const TrainingContext&, const std::filesystem::path&) {}
  /// Something that the user should know but that stops nothing: a damaged checkpoint that is passed over, a changed
  /// learning rate. One line.
  virtual void on_message(const TrainingContext&, const std::string& text) { (void)text; }
  virtual void on_train_end(const TrainingContext&) {}

  /// Name under which a checkpoint keeps the state; empty for a callback without one.
  virtual std::string_view name() const { return {}; }
  /// State as JSON text, and back. `load_state` throws Error when the text is not from this callback.
  virtual std::string state() const { return {}; }
  virtual void load_state(const std::string& text) { (void)text; }
  /// Tensors that belong to the state, by name: kept in callbacks.safetensors. `load_tensors` comes after `load_state`.
  virtual TensorMap tensors() const { return {}; }
  virtual void load_tensors(const TensorMap& tensors) { (void)tensors; }
};

}  // namespace lope
