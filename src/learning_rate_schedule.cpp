#include "learning_rate_schedule.h"

namespace lope {
namespace {

Plateau make_plateau(const TrainingArguments& arguments) {
  ArgumentMap given = arguments.lr_scheduler_kwargs;
  if (arguments.best_is_greater()) given.emplace("mode", "max");
  return Plateau(PlateauOptions::from(given), arguments.learning_rate);
}

}  // namespace

LearningRateSchedule::LearningRateSchedule(const TrainingArguments& arguments, const RateFactor& own, const Plan& plan)
    : base_(arguments.learning_rate), factor_(own) {
  if (factor_) return;
  if (arguments.lr_scheduler_type == "reduce_lr_on_plateau") {
    plateau_ = make_plateau(arguments);
    return;
  }
  factor_ = make_schedule(arguments.lr_scheduler_type,
                          {.total_steps = plan.max_steps, .warmup_steps = plan.warmup_steps, .learning_rate = base_},
                          arguments.lr_scheduler_kwargs);
}

RateFunction LearningRateSchedule::rate() const {
  if (plateau_) return [rate = plateau_->learning_rate()](int64_t) { return rate; };
  return [base = base_, factor = factor_](int64_t step) { return base * factor(step); };
}

std::optional<Plateau::State> LearningRateSchedule::plateau_state() const {
  if (!plateau_) return std::nullopt;
  return plateau_->state();
}

void LearningRateSchedule::load_plateau(const Plateau::State& state) {
  if (plateau_) plateau_->load_state(state);
}

bool LearningRateSchedule::step(double metric) {
  const double before = plateau_->learning_rate();
  return plateau_->step(metric) != before;
}

}  // namespace lope
