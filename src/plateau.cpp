#include <fmt/format.h>
#include <lope/error.h>
#include <lope/plateau.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "argument_reader.h"

namespace lope {
namespace {

constexpr std::array<std::string_view, 2> kModes{"min", "max"};
constexpr std::array<std::string_view, 2> kThresholdModes{"rel", "abs"};

// Options are checked by reading them as arguments, so that both ways give the same errors.
ArgumentMap to_arguments(const PlateauOptions& options) {
  return {{"mode", options.mode},
          {"factor", options.factor},
          {"patience", static_cast<double>(options.patience)},
          {"threshold", options.threshold},
          {"threshold_mode", options.threshold_mode},
          {"cooldown", static_cast<double>(options.cooldown)},
          {"min_lr", options.min_lr},
          {"eps", options.eps}};
}

PlateauOptions read_options(std::string_view owner, const ArgumentMap& arguments) {
  ArgumentReader reader(owner, "reduce_lr_on_plateau", arguments);
  PlateauOptions options;
  options.mode = reader.text("mode", options.mode, kModes);
  options.factor = reader.number("factor", options.factor, from_zero_below_one());
  options.patience = reader.whole("patience", options.patience, at_least(0));
  options.threshold = reader.number("threshold", options.threshold, at_least(0));
  options.threshold_mode = reader.text("threshold_mode", options.threshold_mode, kThresholdModes);
  options.cooldown = reader.whole("cooldown", options.cooldown, at_least(0));
  options.min_lr = reader.number("min_lr", options.min_lr, at_least(0));
  options.eps = reader.number("eps", options.eps, at_least(0));
  reader.finish();
  return options;
}

}  // namespace

PlateauOptions PlateauOptions::from(const ArgumentMap& arguments) {
  return read_options("lr_scheduler_kwargs", arguments);
}

Plateau::Plateau(PlateauOptions options, double learning_rate)
    : options_(read_options("PlateauOptions", to_arguments(options))),
      learning_rate_(learning_rate),
      best_(std::numeric_limits<double>::infinity()) {
  if (options_.mode == "max") best_ = -best_;
  if (learning_rate >= 0) return;
  throw Error(
      fmt::format("learning_rate of reduce_lr_on_plateau is {}: it must be a number of 0 or more", learning_rate));
}

double Plateau::step(double metric) {
  const bool improved = improves(metric);
  bad_evaluations_ = improved ? 0 : bad_evaluations_ + 1;
  if (improved) best_ = metric;
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_evaluations_ = 0;
  }
  if (bad_evaluations_ > options_.patience) reduce();
  return learning_rate_;
}

void Plateau::reduce() {
  const double lower = std::max(learning_rate_ * options_.factor, options_.min_lr);
  if (learning_rate_ - lower > options_.eps) learning_rate_ = lower;
  cooldown_left_ = options_.cooldown;
  bad_evaluations_ = 0;
}

bool Plateau::improves(double metric) const {
  const bool relative = options_.threshold_mode == "rel";
  const double margin = options_.mode == "min" ? -options_.threshold : options_.threshold;
  const double mark = relative ? best_ * (1 + margin) : best_ + margin;
  return options_.mode == "min" ? metric < mark : metric > mark;
}

Plateau::State Plateau::state() const { return {learning_rate_, best_, bad_evaluations_, cooldown_left_}; }

void Plateau::load_state(const State& state) {
  learning_rate_ = state.learning_rate;
  best_ = state.best;
  bad_evaluations_ = state.bad_evaluations;
  cooldown_left_ = state.cooldown_left;
}

}  // namespace lope
