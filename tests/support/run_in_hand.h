#pragma once
// What callbacks look at, with every number in a test's hand.
//
//   RunInHand run;
//   run.progress.step = 3;
//   callback.on_step_end(run.context(), StepReport{}, run.control);

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lope/callback.h"

namespace lope::testing {

/// 10 updates, 5 an epoch.
struct RunInHand {
  TrainingArguments arguments{.eval_strategy = "steps"};
  Plan plan = lope::plan({.batches_per_epoch = 5, .max_steps = 10, .logging_steps = 2, .eval_steps = 5});
  Progress progress;
  double epoch = 0;
  std::vector<LogEntry> log_history;
  std::optional<BestMetric> best;
  std::filesystem::path best_model_checkpoint;
  Control control;

  TrainingContext context() { return {arguments, plan, progress, epoch, log_history, best, best_model_checkpoint}; }

  /// The state after `step` updates of 8 examples with 16 tokens each.
  void go_to(int64_t step) {
    progress.step = step;
    progress.samples = 8 * step;
    progress.tokens = 128 * step;
    epoch = static_cast<double>(step) / 5;
  }

  /// Adds an entry at the present step to the history.
  const LogEntry& log(std::vector<std::pair<std::string, double>> values) {
    return log_history.emplace_back(LogEntry{std::move(values), epoch, progress.step});
  }
};

}  // namespace lope::testing
