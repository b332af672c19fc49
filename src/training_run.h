#pragma once
// One call of Trainer::train, from its first batch to its last log entry.

#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint_saver.h"
#include "learning_rate_schedule.h"
#include "lope/loader.h"
#include "lope/stepper.h"
#include "lope/trainer_state.h"
#include "loss_meter.h"
#include "run_position.h"
#include "trainer_core.h"

namespace lope {

class TrainingRun {
 public:
  explicit TrainingRun(TrainerCore& trainer);

  /// `resume_from_checkpoint` as Trainer::train takes it.
  TrainOutput run(const std::string& resume_from_checkpoint);

 private:
  bool finished() const {
    return control_.stop || trainer_.progress.step >= trainer_.plan.max_steps ||
           trainer_.options.stop_token.stop_requested();
  }
  /// Whether the stop token ended the run before its time.
  bool interrupted() const {
    return trainer_.options.stop_token.stop_requested() && !control_.stop &&
           trainer_.progress.step < trainer_.plan.max_steps;
  }
  bool inside_epoch() const { return trainer_.progress.micro_step > 0 && !epoch_ended_; }
  /// From its beginning, or from where a checkpoint was saved.
  void run_epoch();
  /// Loads the micro-batches of a window and tells the stepper their items. False when there is none.
  bool load_window();
  std::optional<Batch> next_batch(bool exhausted);
  /// Up to G micro-batches, fewer at the end of the epoch. False when the epoch has none left.
  bool accumulate_window();
  void after_update(const StepReport& report);
  void end_epoch();
  TrainOutput finish();

  /// Does what the callbacks asked for and what is due.
  struct Due {
    bool log = false;
    bool evaluate = false;
    bool save = false;
  };
  void act(Due due);
  bool every(const std::string& strategy, int64_t interval) const;
  void log();
  void evaluate();
  void track_best(const Metrics& metrics);
  bool better(double value, const std::optional<BestMetric>& than) const;
  void add_log_entry(LogEntry entry);
  void read_totals();
  void message(const std::string& text);

  // Checkpoints: training_run_checkpoints.cpp.
  bool saves() const { return trainer_.arguments.save_strategy != "no"; }
  void prepare_saving();
  void save();
  void note_best_saved(const std::filesystem::path& folder);
  CheckpointContents contents() const;
  std::string trainer_state_text() const;
  RunPosition position() const;
  /// Tells of checkpoints that have become whole, and of those that could not be saved.
  void take_outcomes();
  void load_best_model();

  // Going on from one: training_run_resume.cpp.
  void resume(const std::string& resume_from_checkpoint);
  std::optional<std::filesystem::path> find_checkpoint(const std::string& resume_from_checkpoint);
  void restore(const std::filesystem::path& folder);
  void restore_callbacks(const TrainerState& state, const TensorMap& tensors);
  void restore_position(const RunPosition& position);

  template <typename Event>
  void notify(Event event) {
    const TrainingContext context = trainer_.context();
    for (const auto& callback : trainer_.callbacks) event(*callback, context);
  }

  TrainerCore& trainer_;
  Loader loader_;
  std::shared_ptr<Optimizer> optimizer_;
  LearningRateSchedule schedule_;
  Stepper stepper_;
  std::deque<Batch> loaded_;
  LossMeter meter_;
  StepTotals totals_;
  Control control_;
  int64_t logged_skips_ = 0;
  int64_t evaluated_at_ = -1;
  std::optional<double> evaluated_metric_;
  bool improved_ = false;
  bool epoch_ended_ = false;

  CheckpointSaver saver_;
  int64_t saved_at_ = -1;
  /// The best evaluation with a checkpoint, and what it was before the save in flight.
  std::optional<BestMetric> best_saved_;
  std::optional<BestMetric> best_saved_before_;
  std::filesystem::path best_checkpoint_before_;
  std::vector<std::string> messages_;
  /// Where the run began: 0, or where it was resumed.
  Progress first_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lope
