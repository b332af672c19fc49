#include <fmt/format.h>
#include <lope/error.h>
#include <lope/plan.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace lope {
namespace {

// Every whole number up to this one is a double.
constexpr double kMostUpdates = 9007199254740992.0;

int64_t ceil_division(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// ceil(factor · count) for the decimal number that `factor` stands for. As a double it is off by at most half an
// epsilon, and the product by as much again: what lies that near to a whole number is that number.
double exact_ceil(double factor, int64_t count) {
  const double product = factor * static_cast<double>(count);
  const double nearest = std::round(product);
  const double rounding = 2 * std::numeric_limits<double>::epsilon() * product;
  return std::abs(product - nearest) <= rounding ? nearest : std::ceil(product);
}

int64_t part_of(int64_t max_steps, double fraction) { return static_cast<int64_t>(exact_ceil(fraction, max_steps)); }

void check_lengths(const PlanInputs& inputs) {
  if (inputs.gradient_accumulation_steps < 1) {
    throw Error(fmt::format("gradient_accumulation_steps is {}: it must be 1 or more; 1 turns accumulation off",
                            inputs.gradient_accumulation_steps));
  }
  if (inputs.batches_per_epoch.value_or(1) < 1) {
    throw Error(
        fmt::format("the training data has {} batches an epoch: it must have 1 or more; give more examples, or lower "
                    "per_device_train_batch_size or unset dataloader_drop_last",
                    *inputs.batches_per_epoch));
  }
}

int64_t all_updates(const PlanInputs& inputs, std::optional<int64_t> updates_per_epoch) {
  if (inputs.max_steps > 0) return inputs.max_steps;
  if (!updates_per_epoch) {
    throw Error(fmt::format(
        "max_steps is {}: training data without a length needs the number of updates; set max_steps to 1 or more",
        inputs.max_steps));
  }
  const double updates = exact_ceil(inputs.num_train_epochs, *updates_per_epoch);
  if (!(inputs.num_train_epochs > 0 && updates <= kMostUpdates)) {
    throw Error(fmt::format(
        "num_train_epochs is {}: it must be above 0 and give at most 2^53 updates; or set max_steps instead",
        inputs.num_train_epochs));
  }
  return static_cast<int64_t>(updates);
}

int64_t warmup_updates(double warmup_steps, int64_t max_steps) {
  if (!(warmup_steps >= 0 && warmup_steps <= kMostUpdates)) {
    throw Error(fmt::format(
        "warmup_steps is {}: it must be a number of updates of 1 or more, or a part of max_steps from 0 to below 1",
        warmup_steps));
  }
  return warmup_steps >= 1 ? static_cast<int64_t>(warmup_steps) : part_of(max_steps, warmup_steps);
}

int64_t interval(std::string_view name, double steps, int64_t max_steps) {
  const bool is_whole = steps >= 1 && steps <= kMostUpdates && steps == std::floor(steps);
  if (is_whole) return static_cast<int64_t>(steps);
  if (steps > 0 && steps < 1) return part_of(max_steps, steps);
  throw Error(fmt::format(
      "{} is {}: it must be a whole number of updates of 1 or more, or a part of max_steps above 0 and below 1", name,
      steps));
}

}  // namespace

Plan plan(const PlanInputs& inputs) {
  check_lengths(inputs);
  Plan plan{.batches_per_epoch = inputs.batches_per_epoch};
  if (inputs.batches_per_epoch) {
    plan.updates_per_epoch = ceil_division(*inputs.batches_per_epoch, inputs.gradient_accumulation_steps);
  }
  plan.max_steps = all_updates(inputs, plan.updates_per_epoch);
  if (plan.updates_per_epoch) plan.epochs = ceil_division(plan.max_steps, *plan.updates_per_epoch);
  plan.warmup_steps = warmup_updates(inputs.warmup_steps, plan.max_steps);
  plan.logging_steps = interval("logging_steps", inputs.logging_steps, plan.max_steps);
  plan.eval_steps = interval("eval_steps", inputs.eval_steps, plan.max_steps);
  plan.save_steps = interval("save_steps", inputs.save_steps, plan.max_steps);
  return plan;
}

double reported_epoch(int64_t epoch, int64_t micro_steps, std::optional<int64_t> batches_per_epoch) {
  const auto whole = static_cast<double>(epoch);
  if (!batches_per_epoch) return whole;
  return whole + static_cast<double>(micro_steps) / static_cast<double>(*batches_per_epoch);
}

}  // namespace lope
