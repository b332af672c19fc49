#include "run_position.h"

#include <array>
#include <utility>

#include "json_fields.h"
#include "python_json.h"

namespace lope {
namespace {

constexpr std::string_view kFile = "progress.json";

template <typename Owner>
using Counters = std::array<std::pair<const char*, int64_t Owner::*>, 6>;

constexpr Counters<Progress> kProgress{{{"epoch", &Progress::epoch},
                                        {"step", &Progress::step},
                                        {"micro_step", &Progress::micro_step},
                                        {"samples", &Progress::samples},
                                        {"tokens", &Progress::tokens},
                                        {"skipped", &Progress::skipped}}};

nlohmann::json progress_to_json(const Progress& progress) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, member] : kProgress) json[name] = progress.*member;
  return json;
}

nlohmann::json plateau_to_json(const std::optional<Plateau::State>& state) {
  if (!state) return nullptr;
  return {{"learning_rate", state->learning_rate},
          {"best", state->best},
          {"bad_evaluations", state->bad_evaluations},
          {"cooldown_left", state->cooldown_left}};
}

nlohmann::json best_to_json(const std::optional<BestMetric>& best) {
  if (!best) return nullptr;
  return {{"value", best->value}, {"step", best->step}};
}

template <typename T>
void need(const Json& json, std::string_view name, T& value) {
  need_field(json, name, kFile);
  read_field(json, name, value);
}

void need_count(const Json& json, std::string_view name, int64_t& value) {
  need(json, name, value);
  if (value < 0) refuse_field(name, json[std::string(name)], "0 or more");
}

Progress read_progress(const Json& json) {
  Progress progress;
  for (const auto& [name, member] : kProgress) need_count(json, name, progress.*member);
  return progress;
}

std::optional<Plateau::State> read_plateau(const Json& json) {
  if (json.is_null()) return std::nullopt;
  Plateau::State state;
  need(json, "learning_rate", state.learning_rate);
  need(json, "best", state.best);
  need_count(json, "bad_evaluations", state.bad_evaluations);
  need_count(json, "cooldown_left", state.cooldown_left);
  return state;
}

std::optional<BestMetric> read_best(const Json& json) {
  if (json.is_null()) return std::nullopt;
  BestMetric best;
  need(json, "value", best.value);
  need_count(json, "step", best.step);
  return best;
}

}  // namespace

std::string RunPosition::to_json() const {
  const nlohmann::json json{
      {"progress", progress_to_json(progress)},
      {"loader", {{"epoch", loader.epoch}, {"examples", loader.examples}}},
      {"examples_per_epoch", examples_per_epoch ? nlohmann::json(*examples_per_epoch) : nlohmann::json()},
      {"epoch_ended", epoch_ended},
      {"evaluated_at", evaluated_at},
      {"logged_skips", logged_skips},
      {"recent_loss", {{"sum", recent.sum}, {"windows", recent.windows}}},
      {"plateau", plateau_to_json(plateau)},
      {"optimizer", optimizer},
      {"best_saved", best_to_json(best_saved)}};
  return to_python_json(json) + "\n";
}

RunPosition RunPosition::from_json(std::string_view text) {
  const Json json = parse_python_json(text);
  RunPosition position;
  position.progress = read_progress(need_field(json, "progress", kFile));
  const Json& loader = need_field(json, "loader", kFile);
  need_count(loader, "epoch", position.loader.epoch);
  need_count(loader, "examples", position.loader.examples);
  need(json, "examples_per_epoch", position.examples_per_epoch);
  need(json, "epoch_ended", position.epoch_ended);
  need(json, "evaluated_at", position.evaluated_at);
  need_count(json, "logged_skips", position.logged_skips);
  const Json& recent = need_field(json, "recent_loss", kFile);
  need(recent, "sum", position.recent.sum);
  need_count(recent, "windows", position.recent.windows);
  position.plateau = read_plateau(need_field(json, "plateau", kFile));
  need(json, "optimizer", position.optimizer);
  position.best_saved = read_best(need_field(json, "best_saved", kFile));
  return position;
}

}  // namespace lope
