#pragma once
// The state of a run as the Python Trainer keeps it in trainer_state.json.
//
//   lope::TrainerState state = lope::TrainerState::load("run/trainer_state.json");   // Python's files too
//   state.log_history.back().find("loss");
//   state.save("copy.json");                                                         // TrainerState.load_from_json
//   reads it

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lope/metrics.h"

namespace lope {

struct TrainingContext;

/// Field names and meanings of transformers' TrainerState.
struct TrainerState {
  double epoch = 0;
  int64_t global_step = 0;
  int64_t max_steps = 0;
  int64_t num_train_epochs = 0;
  int64_t logging_steps = 500;
  int64_t eval_steps = 500;
  int64_t save_steps = 500;
  std::optional<int64_t> train_batch_size = std::nullopt;
  int64_t num_input_tokens_seen = 0;
  double total_flos = 0;
  std::vector<LogEntry> log_history = {};
  std::optional<double> best_metric = std::nullopt;
  std::optional<int64_t> best_global_step = std::nullopt;
  std::optional<std::string> best_model_checkpoint = std::nullopt;
  /// JSON texts by `Callback::name`.
  std::map<std::string, std::string> stateful_callbacks = {};

  /// The state at a moment of a run; without `stateful_callbacks`.
  static TrainerState of(const TrainingContext& context);

  /// Letter for letter what the Python class writes: keys in alphabetical order, NaN as NaN, a line break at the end.
  std::string to_json() const;

  /// What is in a log entry but is not a number is left out, as are fields that only the Python class has.
  /// @throws Error when the text is not JSON, or naming a field that is missing or has the wrong type
  static TrainerState from_json(std::string_view text);

  /// Writes `to_json`, so that a reader sees the old file or the new one. @throws Error naming the file
  void save(const std::filesystem::path& path) const;

  /// As `from_json`. @throws Error naming the file
  static TrainerState load(const std::filesystem::path& path);
};

}  // namespace lope
