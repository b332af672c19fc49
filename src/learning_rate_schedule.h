#pragma once
// The schedule of a run: a pure function of applied updates, or reduce-on-plateau.

#include <optional>

#include "lope/plan.h"
#include "lope/plateau.h"
#include "lope/stepper.h"
#include "lope/trainer.h"

namespace lope {

class LearningRateSchedule {
 public:
  LearningRateSchedule(const TrainingArguments& arguments, const RateFactor& own, const Plan& plan);

  RateFunction rate() const;
  /// Whether the schedule wants the metric of each evaluation.
  bool wants_metric() const { return plateau_.has_value(); }
  /// Takes the metric of an evaluation. True when the rate has changed.
  bool step(double metric);

  std::optional<Plateau::State> plateau_state() const;
  void load_plateau(const Plateau::State& state);

 private:
  double base_;
  RateFactor factor_;
  std::optional<Plateau> plateau_;
};

}  // namespace lope
