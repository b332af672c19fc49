#pragma once
// One pass over a data set without gradients.

#include <functional>
#include <string>

#include "lope/autocast.h"
#include "lope/loader.h"
#include "lope/trainer.h"

namespace lope {

struct EvaluationSettings {
  Precision precision = Precision::kFp32;
  LoaderOptions loader = {};
  /// Whether predictions are kept: for `compute_metrics` or `predict`.
  bool keep_predictions = false;
  /// Whether the loss is computed: not for data without labels.
  bool compute_loss = true;
  /// Called with (batches done, batches in all), first with 0.
  std::function<void(int64_t, int64_t)> on_batch = nullptr;
};

struct EvaluationResult {
  double loss = 0;
  EvalPrediction prediction;
  int64_t samples = 0;
  int64_t batches = 0;
  double seconds = 0;
};

/// Mean loss over all items, whatever the batch size. Leaves the model's mode and the generators as they were.
EvaluationResult run_evaluation(Model& model, const LossFunction& loss, const TrainerOptions& options,
                                const Dataset& dataset, const EvaluationSettings& settings);

/// "<prefix>_loss", "<prefix>_runtime" and speeds, and the user's metrics with the prefix.
Metrics evaluation_metrics(const EvaluationResult& result, const TrainerOptions& options,
                           const EvaluationSettings& settings, const std::string& prefix);

}  // namespace lope
