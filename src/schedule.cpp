#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lope/error.h>
#include <lope/schedule.h>
#include <lope/training_arguments.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "argument_reader.h"
#include "nearest_name.h"
#include "schedule_warmup_stable_decay.h"

namespace lope {
namespace {

constexpr double kDefaultTimescale = 10'000;

double ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
}

// Part of the way from the end of the warm-up to the end of the run.
double progress(const ScheduleInputs& inputs, int64_t step) {
  return ratio(step - inputs.warmup_steps, inputs.total_steps - inputs.warmup_steps);
}

RateFactor after_warmup(const ScheduleInputs& inputs, RateFactor then) {
  return [warmup = inputs.warmup_steps, then = std::move(then)](int64_t step) {
    return step < warmup ? ratio(step, warmup) : then(step);
  };
}

RateFactor constant(const ScheduleInputs&, ArgumentReader&) {
  return [](int64_t) { return 1.0; };
}

RateFactor constant_with_warmup(const ScheduleInputs& inputs, ArgumentReader& reader) {
  return after_warmup(inputs, constant(inputs, reader));
}

RateFactor linear(const ScheduleInputs& inputs, ArgumentReader&) {
  return after_warmup(inputs, [inputs](int64_t step) {
    return std::max(0.0, ratio(inputs.total_steps - step, inputs.total_steps - inputs.warmup_steps));
  });
}

RateFactor cosine_down_to(const ScheduleInputs& inputs, double num_cycles, double least) {
  return after_warmup(inputs, [=](int64_t step) {
    const double wave = 0.5 * (1 + std::cos(2 * std::numbers::pi * num_cycles * progress(inputs, step)));
    return std::max(0.0, wave * (1 - least) + least);
  });
}

RateFactor cosine(const ScheduleInputs& inputs, ArgumentReader& reader) {
  return cosine_down_to(inputs, reader.number("num_cycles", 0.5, above(0)), 0);
}

RateFactor cosine_with_restarts(const ScheduleInputs& inputs, ArgumentReader& reader) {
  const double num_cycles = reader.number("num_cycles", 1, above(0));
  return after_warmup(inputs, [=](int64_t step) {
    const double done = progress(inputs, step);
    if (done >= 1) return 0.0;
    return 0.5 * (1 + std::cos(std::numbers::pi * std::fmod(num_cycles * done, 1.0)));
  });
}

RateFactor cosine_with_min_lr(const ScheduleInputs& inputs, ArgumentReader& reader) {
  const double num_cycles = reader.number("num_cycles", 0.5, above(0));
  const auto min_lr = reader.number("min_lr", {.min = 0, .max = inputs.learning_rate});
  const auto min_lr_rate = reader.number("min_lr_rate", {.min = 0, .max = 1});
  if (min_lr.has_value() == min_lr_rate.has_value()) {
    throw Error(fmt::format(
        "lr_scheduler_kwargs: cosine_with_min_lr got {} min_lr and min_lr_rate: give one of them, the lowest rate or "
        "its part of learning_rate",
        min_lr ? "both" : "neither"));
  }
  if (min_lr_rate) return cosine_down_to(inputs, num_cycles, *min_lr_rate);
  return cosine_down_to(inputs, num_cycles, inputs.learning_rate > 0 ? *min_lr / inputs.learning_rate : 0);
}

RateFactor polynomial(const ScheduleInputs& inputs, ArgumentReader& reader) {
  const double rate = inputs.learning_rate;
  const double power = reader.number("power", 1, above(0));
  const double lr_end = reader.number("lr_end", 1e-7, at_least(0));
  if (!(lr_end < rate)) {
    throw Error(fmt::format(
        "lr_scheduler_kwargs: lr_end of polynomial is {}: it must be below learning_rate, which is {}; set lr_end or "
        "raise learning_rate",
        lr_end, rate));
  }
  return after_warmup(inputs, [=](int64_t step) {
    if (step > inputs.total_steps) return lr_end / rate;
    return ((rate - lr_end) * std::pow(1 - progress(inputs, step), power) + lr_end) / rate;
  });
}

RateFactor inverse_sqrt(const ScheduleInputs& inputs, ArgumentReader& reader) {
  const auto warmup = static_cast<double>(inputs.warmup_steps);
  const double timescale = reader.number("timescale", warmup > 0 ? warmup : kDefaultTimescale, above(0));
  return after_warmup(inputs, [=](int64_t step) {
    return 1 / std::sqrt((static_cast<double>(step) + timescale - warmup) / timescale);
  });
}

struct NamedSchedule {
  std::string_view name;
  RateFactor (*make)(const ScheduleInputs&, ArgumentReader&);
};

constexpr NamedSchedule kSchedules[] = {
    {"linear", linear},
    {"cosine", cosine},
    {"constant", constant},
    {"constant_with_warmup", constant_with_warmup},
    {"polynomial", polynomial},
    {"cosine_with_restarts", cosine_with_restarts},
    {"inverse_sqrt", inverse_sqrt},
    {"cosine_with_min_lr", cosine_with_min_lr},
    {"warmup_stable_decay", warmup_stable_decay},
};

[[noreturn]] void refuse_name(const std::string& name) {
  if (name == "reduce_lr_on_plateau") {
    throw Error("lr_scheduler_type reduce_lr_on_plateau depends on metrics, not on the step alone; use lope::Plateau");
  }
  throw Error(fmt::format("lr_scheduler_type is \"{}\": it must be one of {}{}", name, fmt::join(kSchedulerNames, ", "),
                          did_you_mean(name, {kSchedulerNames.begin(), kSchedulerNames.end()})));
}

void check(const ScheduleInputs& inputs) {
  if (inputs.total_steps >= 0 && inputs.warmup_steps >= 0 && inputs.learning_rate >= 0) return;
  throw Error(
      fmt::format("a schedule was given total_steps {}, warmup_steps {} and learning_rate {}: each must be 0 or more",
                  inputs.total_steps, inputs.warmup_steps, inputs.learning_rate));
}

}  // namespace

RateFactor make_schedule(const std::string& name, const ScheduleInputs& inputs, const ArgumentMap& arguments) {
  check(inputs);
  const auto is_it = [&](const NamedSchedule& schedule) { return schedule.name == name; };
  const auto* found = std::find_if(std::begin(kSchedules), std::end(kSchedules), is_it);
  if (found == std::end(kSchedules)) refuse_name(name);
  ArgumentReader reader("lr_scheduler_kwargs", name, arguments);
  RateFactor schedule = found->make(inputs, reader);
  reader.finish();
  return schedule;
}

}  // namespace lope
