#pragma once
// Shows how a run is doing: one redrawn line on a terminal, a plain line at each log elsewhere.
//
//   trainer.add_callback(std::make_unique<lope::ProgressBar>());
//   //  42% ▕████████▍           ▏ 420/1000  loss 2.3451  lr 3.00e-04  12.3k tokens/s  00:42<00:58

#include <memory>
#include <optional>
#include <ostream>

#include "lope/callback.h"
#include "lope/throughput.h"

namespace lope {

/// What is not given is found out.
struct ProgressBarOptions {
  /// Outlives the callback; nullptr: std::cerr.
  std::ostream* stream = nullptr;
  /// Redraw one line. By default when the stream is std::cerr or std::cout, and that is a terminal.
  std::optional<bool> redraw = std::nullopt;
  /// Columns of the terminal; by default those that it has at the moment.
  std::optional<int> width = std::nullopt;
  /// Block characters; by default when the locale (LC_ALL, LC_CTYPE, LANG) is UTF-8.
  std::optional<bool> unicode = std::nullopt;
  /// By default on a terminal when NO_COLOR is not set.
  std::optional<bool> colour = std::nullopt;
  double redraws_per_second = 10;
  Clock clock = steady_seconds;
};

/// Shows only what was logged, counts, and times, so it never waits for a device. The line fits the terminal's width:
/// what matters least goes first. On a terminal, evaluations are shown while they run and leave a line with their
/// result.
class ProgressBar : public Callback {
 public:
  explicit ProgressBar(ProgressBarOptions options = {});
  ~ProgressBar() override;

  void on_train_begin(const TrainingContext& context, Control& control) override;
  void on_step_end(const TrainingContext& context, const StepReport& report, Control& control) override;
  void on_log(const TrainingContext& context, const LogEntry& entry, Control& control) override;
  void on_evaluation_step(const TrainingContext& context, int64_t done, int64_t total) override;
  void on_evaluate(const TrainingContext& context, const Metrics& metrics, Control& control) override;
  void on_message(const TrainingContext& context, const std::string& text) override;
  /// Leaves the bar and a summary of the run.
  void on_train_end(const TrainingContext& context) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lope
