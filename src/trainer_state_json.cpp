#include <fmt/format.h>
#include <lope/error.h>
#include <lope/trainer_state.h>

#include <algorithm>
#include <array>

#include "python_json.h"

namespace lope {
namespace {

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

std::string_view type_text(const double&) { return "a number"; }
std::string_view type_text(const int64_t&) { return "a whole number"; }
std::string_view type_text(const std::string&) { return "a text"; }
template <typename T>
std::string type_text(const std::optional<T>&) {
  return fmt::format("{} or null", type_text(T{}));
}

[[noreturn]] void refuse(std::string_view name, const Json& value, std::string_view allowed) {
  constexpr std::size_t kShown = 40;
  throw Error(fmt::format("{} is {}: it must be {}", name,
                          value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kShown), allowed));
}

const Json& needed(const Json& json, std::string_view name) {
  const auto found = json.find(name);
  if (found == json.end()) throw Error(fmt::format("{} is missing: it is not a whole trainer_state.json", name));
  return *found;
}

template <typename T>
void read(const Json& json, std::string_view name, T& value) {
  const auto found = json.find(name);
  if (found != json.end() && !read_json(*found, value)) refuse(name, *found, type_text(value));
}

// As the Trainer logs them; the file has them in alphabetical order.
void put_first_values_first(LogEntry& entry) {
  const auto place = [](const auto& value) {
    return std::find(kFirstValues.begin(), kFirstValues.end(), value.first) - kFirstValues.begin();
  };
  std::ranges::stable_sort(entry.values, {}, place);
}

LogEntry entry_from_json(const Json& json) {
  if (!json.is_object()) refuse("an entry of log_history", json, "an object");
  LogEntry entry;
  read(json, "epoch", entry.epoch);
  read(json, "step", entry.step);
  for (const auto& [name, value] : json.items()) {
    if (name == "epoch" || name == "step" || !value.is_number()) continue;
    entry.values.emplace_back(name, value.get<double>());
  }
  put_first_values_first(entry);
  return entry;
}

void read_log_history(const Json& json, TrainerState& state) {
  const Json& entries = needed(json, "log_history");
  if (!entries.is_array()) refuse("log_history", entries, "an array");
  for (const Json& entry : entries) state.log_history.push_back(entry_from_json(entry));
}

void read_callbacks(const Json& json, TrainerState& state) {
  const auto found = json.find("stateful_callbacks");
  if (found == json.end()) return;
  if (!found->is_object()) refuse("stateful_callbacks", *found, "an object");
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
  if (!json.is_object()) refuse("the state", json, "an object");
  TrainerState state;
  needed(json, "global_step");
  read(json, "epoch", state.epoch);
  read(json, "global_step", state.global_step);
  read(json, "max_steps", state.max_steps);
  read(json, "num_train_epochs", state.num_train_epochs);
  read(json, "logging_steps", state.logging_steps);
  read(json, "eval_steps", state.eval_steps);
  read(json, "save_steps", state.save_steps);
  read(json, "train_batch_size", state.train_batch_size);
  read(json, "num_input_tokens_seen", state.num_input_tokens_seen);
  read(json, "total_flos", state.total_flos);
  read(json, "best_metric", state.best_metric);
  read(json, "best_global_step", state.best_global_step);
  read(json, "best_model_checkpoint", state.best_model_checkpoint);
  read_log_history(json, state);
  read_callbacks(json, state);
  return state;
}

}  // namespace lope
