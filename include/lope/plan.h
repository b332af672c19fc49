#pragma once
// All arithmetic of steps and epochs, as one pure function.
//
//   lope::Plan plan = lope::plan({.batches_per_epoch = 5, .gradient_accumulation_steps = 2, .num_train_epochs = 3});
//   plan.updates_per_epoch;   // 3
//   plan.max_steps;           // 9

#include <cstdint>
#include <optional>

namespace lope {

/// What a plan depends on.
struct PlanInputs {
  /// Micro-batches an epoch on this rank (L); nullopt for a stream of unknown length.
  std::optional<int64_t> batches_per_epoch = std::nullopt;
  int64_t gradient_accumulation_steps = 1;
  double num_train_epochs = 3.0;
  /// Updates in all when above 0; wins over `num_train_epochs`.
  int64_t max_steps = -1;
  /// Warm-up updates when 1 or more, else the fraction of `max_steps`.
  double warmup_steps = 0;
  /// Updates between two events when 1 or more, else the fraction of `max_steps`.
  double logging_steps = 500;
  double eval_steps = 500;
  double save_steps = 500;
};

/// When things happen, in optimizer updates.
struct Plan {
  /// max(ceil(L / G), 1); nullopt for a stream.
  std::optional<int64_t> updates_per_epoch = std::nullopt;
  std::optional<int64_t> batches_per_epoch = std::nullopt;
  int64_t max_steps = 0;
  /// Epochs that are begun: ceil(max_steps / updates_per_epoch); 0 for a stream.
  int64_t epochs = 0;
  int64_t warmup_steps = 0;
  int64_t logging_steps = 0;
  int64_t eval_steps = 0;
  int64_t save_steps = 0;
};

/// Fractions are taken as the decimal numbers that they were written as: 0.07 of 100 is 7, not 8.
/// Throws Error for a stream without `max_steps`, and for a length, G, interval or warm-up that is out of range.
Plan plan(const PlanInputs& inputs);

/// The epoch as it is reported: whole epochs done plus the part of this one, `micro_steps` of L. A stream has no parts:
/// give `max_steps` · G for L to see the part of the run instead, as the Python Trainer reports it.
double reported_epoch(int64_t epoch, int64_t micro_steps, std::optional<int64_t> batches_per_epoch);

}  // namespace lope
