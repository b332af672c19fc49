#include <fmt/format.h>
#include <lope/error.h>
#include <lope/trainer_state.h>

#include <algorithm>
#include <array>

#include "json_fields.h"
#include "python_json.h"

namespace lope {
namespace {

constexpr std::string_view kFile = "trainer_state.json";
constexpr std::array<std::string_view, 3> kFirstValues{"loss", "grad_norm", "learning_rate"};

template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json entry_to_json(const LogEntry& entry) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : entry.values) json[name] = value;
  json["epoch"] = entry.epoch;
  json["step"] = entry.step;
  return json;
}

nlohmann::json entries_to_json(const std::vector<LogEntry>& entries) {
  nlohmann::json json = nlohmann::json::array();
  for (const LogEntry& entry : entries) json.push_back(entry_to_json(entry));
  return json;
}

nlohmann::json callbacks_to_json(const std::map<std::string, std::string>& callbacks) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, state] : callbacks) json[name] = parse_python_json(state);
  return json;
}

// As the Trainer logs them; the file has them in alphabetical order.
void put_first_values_first(LogEntry& entry) {
  const auto place = [](const auto& value) {
    return std::find(kFirstValues.begin(), kFirstValues.end(), value.first) - kFirstValues.begin();
  };
  std::ranges::stable_sort(entry.values, {}, place);
}

LogEntry entry_from_json(const Json& json) {
  if (!json.is_object()) refuse_field("an entry of log_history", json, "an object");
  LogEntry entry;
  read_field(json, "epoch", entry.epoch);
  read_field(json, "step", entry.step);
  for (const auto& [name, value] : json.items()) {
    if (name == "epoch" || name == "step" || !value.is_number()) continue;
    entry.values.emplace_back(name, value.get<double>());
  }
  put_first_values_first(entry);
  return entry;
}

void read_log_history(const Json& json, TrainerState& state) {
  const Json& entries = need_field(json, "log_history", kFile);
  if (!entries.is_array()) refuse_field("log_history", entries, "an array");
  for (const Json& entry : entries) state.log_history.push_back(entry_from_json(entry));
}

void read_callbacks(const Json& json, TrainerState& state) {
  const auto found = json.find("stateful_callbacks");
  if (found == json.end()) return;
  if (!found->is_object()) refuse_field("stateful_callbacks", *found, "an object");
  for (const auto& [name, value] : found->items()) state.stateful_callbacks[name] = to_python_json(value);
}

}  // namespace

std::string TrainerState::to_json() const {
  const nlohmann::json json{{"best_global_step", or_null(best_global_step)},
                            {"best_metric", or_null(best_metric)},
                            {"best_model_checkpoint", or_null(best_model_checkpoint)},
                            {"epoch", epoch},
                            {"eval_steps", eval_steps},
                            {"global_step", global_step},
                            {"is_hyper_param_search", false},
                            {"is_local_process_zero", true},
                            {"is_world_process_zero", true},
                            {"log_history", entries_to_json(log_history)},
                            {"logging_steps", logging_steps},
                            {"max_steps", max_steps},
                            {"num_input_tokens_seen", num_input_tokens_seen},
                            {"num_train_epochs", num_train_epochs},
                            {"save_steps", save_steps},
                            {"stateful_callbacks", callbacks_to_json(stateful_callbacks)},
                            {"total_flos", total_flos},
                            {"train_batch_size", or_null(train_batch_size)},
                            {"trial_name", nullptr},
                            {"trial_params", nullptr}};
  return to_python_json(json) + "\n";
}

TrainerState TrainerState::from_json(std::string_view text) {
  const Json json = parse_python_json(text);
  TrainerState state;
  need_field(json, "global_step", kFile);
  read_field(json, "epoch", state.epoch);
  read_field(json, "global_step", state.global_step);
  read_field(json, "max_steps", state.max_steps);
  read_field(json, "num_train_epochs", state.num_train_epochs);
  read_field(json, "logging_steps", state.logging_steps);
  read_field(json, "eval_steps", state.eval_steps);
  read_field(json, "save_steps", state.save_steps);
  read_field(json, "train_batch_size", state.train_batch_size);
  read_field(json, "num_input_tokens_seen", state.num_input_tokens_seen);
  read_field(json, "total_flos", state.total_flos);
  read_field(json, "best_metric", state.best_metric);
  read_field(json, "best_global_step", state.best_global_step);
  read_field(json, "best_model_checkpoint", state.best_model_checkpoint);
  read_log_history(json, state);
  read_callbacks(json, state);
  return state;
}

}  // namespace lope
