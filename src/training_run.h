#pragma once
// One call of Trainer::train, from its first batch to its last log entry.

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "learning_rate_schedule.h"
#include "lope/loader.h"
#include "lope/stepper.h"
#include "loss_meter.h"
#include "trainer_core.h"

namespace lope {

class TrainingRun {
 public:
  explicit TrainingRun(TrainerCore& trainer);

  TrainOutput run();

 private:
  bool finished() const { return control_.stop || trainer_.progress.step >= trainer_.plan.max_steps; }
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
  void act(bool log, bool evaluate);
  bool every(const std::string& strategy, int64_t interval) const;
  void log();
  void evaluate();
  void track_best(const Metrics& metrics);
  void add_log_entry(LogEntry entry);
  void read_totals();

  template <typename Event>
  void notify(Event event);

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
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lope
