#pragma once
// What a Trainer holds between its calls.

#include <memory>
#include <optional>
#include <vector>

#include "evaluation.h"
#include "lope/trainer.h"

namespace lope {

class TrainerCore {
 public:
  TrainerCore(TrainingArguments given, Model trained, LossFunction loss_function, TrainerOptions trainer_options);

  TrainOutput train(const std::string& resume_from_checkpoint);
  Metrics evaluate(const Dataset& dataset, const std::string& prefix);
  PredictOutput predict(const Dataset& dataset, const std::string& prefix);
  void save_model(const std::filesystem::path& directory) const;

  EvaluationSettings evaluation_settings() const;
  TrainingContext context() const;

  TrainingArguments arguments;
  Model model;
  LossFunction loss;
  TrainerOptions options;
  Precision precision;
  std::vector<std::shared_ptr<Callback>> callbacks;

  Plan plan;
  Progress progress;
  std::vector<LogEntry> log_history;
  std::optional<BestMetric> best;
  std::filesystem::path best_model_checkpoint;
  /// Whether a user's own optimizer has been used by an earlier training.
  bool optimizer_used = false;
};

}  // namespace lope
