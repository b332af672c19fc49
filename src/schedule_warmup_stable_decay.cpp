#include "schedule_warmup_stable_decay.h"

#include <fmt/format.h>
#include <lope/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lope {
namespace {

constexpr std::array<std::string_view, 3> kShapes{"linear", "cosine", "1-sqrt"};

struct Phases {
  int64_t warmup, stable, decay;
  std::string warmup_type, decay_type;
  double min_lr_ratio, num_cycles;
};

double rising(const Phases& phases, double progress) {
  if (phases.warmup_type == "linear") return progress;
  if (phases.warmup_type == "cosine") return 0.5 * (1 - std::cos(std::numbers::pi * progress));
  return 1 - std::sqrt(1 - progress);
}

double falling(const Phases& phases, double progress) {
  if (phases.decay_type == "linear") return 1 - progress;
  if (phases.decay_type == "1-sqrt") return 1 - std::sqrt(progress);
  return 0.5 * (1 + std::cos(2 * std::numbers::pi * phases.num_cycles * progress));
}

double factor_at(const Phases& phases, int64_t step) {
  const auto above_least = [&](double factor) {
    return std::max(0.0, factor * (1 - phases.min_lr_ratio) + phases.min_lr_ratio);
  };
  if (step < phases.warmup) {
    return above_least(rising(phases, static_cast<double>(step) / static_cast<double>(phases.warmup)));
  }
  const int64_t decayed = step - phases.warmup - phases.stable;
  if (decayed < 0) return 1;
  if (decayed >= phases.decay) return phases.min_lr_ratio;
  return above_least(falling(phases, static_cast<double>(decayed) / static_cast<double>(phases.decay)));
}

int64_t decay_steps(ArgumentReader& reader) {
  const std::optional<int64_t> steps = reader.whole("num_decay_steps", at_least(0));
  if (steps) return *steps;
  throw Error(
      "lr_scheduler_kwargs: warmup_stable_decay needs num_decay_steps, the updates over which the rate falls; add "
      "\"num_decay_steps\": 100");
}

int64_t stable_steps(const ScheduleInputs& inputs, ArgumentReader& reader, int64_t decay) {
  const std::optional<int64_t> given = reader.whole("num_stable_steps", at_least(0));
  const int64_t room = inputs.total_steps - inputs.warmup_steps;
  if (given || decay <= room) return given.value_or(room - decay);
  throw Error(fmt::format(
      "lr_scheduler_kwargs: num_decay_steps of warmup_stable_decay is {}: it must be at most {}, the updates after "
      "the warm-up; lower it or warmup_steps, or give num_stable_steps",
      decay, std::max<int64_t>(room, 0)));
}

}  // namespace

RateFactor warmup_stable_decay(const ScheduleInputs& inputs, ArgumentReader& reader) {
  Phases phases{};
  phases.warmup = inputs.warmup_steps;
  phases.decay = decay_steps(reader);
  phases.stable = stable_steps(inputs, reader, phases.decay);
  phases.warmup_type = reader.text("warmup_type", "linear", kShapes);
  phases.decay_type = reader.text("decay_type", "cosine", kShapes);
  phases.min_lr_ratio = reader.number("min_lr_ratio", 0, {.min = 0, .max = 1});
  phases.num_cycles = reader.number("num_cycles", 0.5, above(0));
  return [phases](int64_t step) { return factor_at(phases, step); };
}

}  // namespace lope
