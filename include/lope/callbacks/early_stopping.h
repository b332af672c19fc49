#pragma once
// Ends a run whose evaluations have stopped improving.
//
//   trainer.add_callback(std::make_unique<lope::EarlyStopping>(3));   // after 3 evaluations without improvement in a
//   row

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lope/callback.h"

namespace lope {

/// As transformers' EarlyStoppingCallback: looks at `metric_for_best_model` ("loss" when it is empty), larger or
/// smaller being better by `greater_is_better`. An evaluation improves when it beats the best one before it by more
/// than `threshold`. A metric that is not finite never improves.
class EarlyStopping : public Callback {
 public:
  /// @throws Error when `patience` is below 1 or `threshold` is negative or not finite
  explicit EarlyStopping(int64_t patience = 1, double threshold = 0);

  /// Forgets the state when the run begins at update 0. @throws Error when `eval_strategy` is "no"
  void on_train_begin(const TrainingContext& context, Control& control) override;
  /// @throws Error when the metric is not among `metrics`
  void on_evaluate(const TrainingContext& context, const Metrics& metrics, Control& control) override;

  std::string_view name() const override { return "EarlyStoppingCallback"; }
  std::string state() const override;
  void load_state(const std::string& text) override;

 private:
  int64_t patience_;
  double threshold_;
  int64_t bad_evaluations_ = 0;
  std::optional<double> best_;
};

}  // namespace lope
