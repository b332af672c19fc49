#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lope/callbacks/early_stopping.h>
#include <lope/error.h>

#include <cmath>
#include <vector>

#include "../python_json.h"

namespace lope {
namespace {

// Python's attribute name, so that either library reads the other's checkpoints.
constexpr const char* kCounter = "early_stopping_patience_counter";
constexpr const char* kBest = "best_metric";

double metric_of(const TrainingArguments& arguments, const Metrics& metrics) {
  const std::string best = arguments.best_metric();
  const std::string name = best.starts_with("eval_") ? best : "eval_" + best;
  const auto found = metrics.find(name);
  if (found != metrics.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : metrics) names.push_back(known);
  throw Error(
      fmt::format("metric_for_best_model is \"{}\", but the evaluation gives {}; name one of these, or return {} from "
                  "compute_metrics",
                  best, fmt::join(names, ", "), best));
}

}  // namespace

EarlyStopping::EarlyStopping(int64_t patience, double threshold) : patience_(patience), threshold_(threshold) {
  if (patience < 1) {
    throw Error(fmt::format("the patience of EarlyStopping is {}: it must be 1 evaluation or more", patience));
  }
  if (!(threshold >= 0 && std::isfinite(threshold))) {
    throw Error(fmt::format("the threshold of EarlyStopping is {}: it must be a number of 0 or more", threshold));
  }
}

void EarlyStopping::on_train_begin(const TrainingContext& context, Control&) {
  if (context.arguments.eval_strategy == "no") {
    throw Error("eval_strategy is \"no\": EarlyStopping needs evaluations; set it to \"steps\" or \"epoch\"");
  }
  if (context.progress.step == 0) {
    bad_evaluations_ = 0;
    best_.reset();
  } else if (!best_ && context.best) {  // Python's checkpoints keep the best metric elsewhere
    best_ = context.best->value;
  }
}

void EarlyStopping::on_evaluate(const TrainingContext& context, const Metrics& metrics, Control& control) {
  const double metric = metric_of(context.arguments, metrics);
  const bool greater = context.arguments.best_is_greater();
  const bool better = std::isfinite(metric) && (!best_ || (greater ? metric > *best_ : metric < *best_));
  const bool improved = better && (!best_ || std::abs(metric - *best_) > threshold_);
  bad_evaluations_ = improved ? 0 : bad_evaluations_ + 1;
  if (better) best_ = metric;
  if (bad_evaluations_ >= patience_) control.stop = true;
}

std::string EarlyStopping::state() const {
  return to_python_json(
      {{"args", {{"early_stopping_patience", patience_}, {"early_stopping_threshold", threshold_}}},
       {"attributes", {{kCounter, bad_evaluations_}, {kBest, best_ ? nlohmann::json(*best_) : nlohmann::json()}}}});
}

// The patience and the threshold of the program win over those of the checkpoint.
void EarlyStopping::load_state(const std::string& text) {
  const Json json = parse_python_json(text);
  const Json attributes = json.is_object() ? json.value("attributes", Json()) : Json();
  int64_t bad_evaluations = 0;
  std::optional<double> best;
  const bool is_ours = attributes.is_object() && read_json(attributes.value(kCounter, Json()), bad_evaluations) &&
                       read_json(attributes.value(kBest, Json()), best);
  if (!is_ours)
    throw Error(fmt::format("the state of EarlyStopping has no whole number {}: it is another's", kCounter));
  bad_evaluations_ = bad_evaluations;
  best_ = best;
}

}  // namespace lope
