#pragma once
// Learning-rate schedules: pure functions from the number of applied updates to a factor of the base rate.
//
//   lope::RateFactor factor = lope::make_schedule("cosine", {.total_steps = 1000, .warmup_steps = 100});
//   double rate = 3e-4 * factor(50);              // half way up: 1.5e-4
//   lope::RateFactor own = [](int64_t step) { return step < 10 ? 0.1 : 1.0; };

#include <cstdint>
#include <functional>
#include <string>

#include "lope/argument_map.h"

namespace lope {

/// Factor of the base learning rate at applied update `step` (0 for the first).
using RateFactor = std::function<double(int64_t step)>;

/// What a schedule depends on besides its own arguments.
struct ScheduleInputs {
  /// Updates in all (N).
  int64_t total_steps = 0;
  /// Updates of warm-up (W); the factor is s / max(1, W) there, so the first update of a warmed-up run has rate 0.
  int64_t warmup_steps = 0;
  /// The base rate; schedules that end at an absolute rate need it.
  double learning_rate = 5e-5;
};

/// The schedule called `name` in Hugging Face's terms (`lr_scheduler_type`): linear, cosine, cosine_with_restarts,
/// polynomial, constant, constant_with_warmup, inverse_sqrt, cosine_with_min_lr, warmup_stable_decay. Formulas are
/// those of transformers' optimization.py. `arguments` (`lr_scheduler_kwargs`) are checked: an unknown one, a wrong
/// type or a value out of range throws Error naming it and what is allowed. reduce_lr_on_plateau has state: see
/// plateau.h.
RateFactor make_schedule(const std::string& name, const ScheduleInputs& inputs, const ArgumentMap& arguments = {});

}  // namespace lope
