#include "evaluation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <map>
#include <optional>

#include "device_sum.h"
#include "lope/error.h"
#include "lope/seed.h"

namespace lope {
namespace {

/// Evaluation mode while it lives.
class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), was_training_(model.is_training()) { model_.train(false); }
  ~EvaluationMode() { model_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Model& model_;
  bool was_training_;
};

/// Joins batches along dimension 0; other dimensions are filled up with -100, as the Python Trainer does.
at::Tensor join(std::vector<at::Tensor> parts) {
  std::vector<int64_t> largest = parts.front().sizes().vec();
  for (const auto& part : parts) {
    for (size_t d = 1; d < largest.size(); ++d) largest[d] = std::max(largest[d], part.size(static_cast<int64_t>(d)));
  }
  for (auto& part : parts) {
    std::vector<int64_t> padding;
    for (size_t d = largest.size() - 1; d >= 1; --d) {
      padding.push_back(0);
      padding.push_back(largest[d] - part.size(static_cast<int64_t>(d)));
    }
    part = at::constant_pad_nd(part, padding, -100);
  }
  return at::cat(parts);
}

class Evaluation {
 public:
  Evaluation(Model& model, const LossFunction& loss, const TrainerOptions& options, const EvaluationSettings& settings)
      : model_(model),
        loss_(loss),
        options_(options),
        settings_(settings),
        loss_sum_(model.device(), at::kDouble),
        items_(model.device(), at::kLong) {}

  void add(const Batch& given) {
    const Batch batch = given.to(model_.device());
    const Autocast autocast(model_.device().type(), settings_.precision);
    at::Tensor predictions;
    if (settings_.compute_loss) predictions = add_loss(batch);
    if (settings_.keep_predictions) keep(batch, predictions);
  }

  double loss() const {
    double sum = loss_sum_.host();
    double items = items_.host();
    // The one host read of an evaluation.
    if (loss_sum_.on_device()) sum += cpu_value(loss_sum_.device().cpu());
    if (items_.on_device()) items += cpu_value(items_.device().cpu());
    return items == 0.0 ? std::numeric_limits<double>::quiet_NaN() : sum / items;
  }

  EvalPrediction take_prediction() {
    EvalPrediction out;
    if (predictions_.empty()) return out;
    out.predictions = join(std::move(predictions_));
    for (auto& [name, parts] : labels_) out.labels.set(name, join(std::move(parts)));
    return out;
  }

 private:
  at::Tensor add_loss(const Batch& batch) {
    const Loss loss = loss_(batch);
    loss_sum_.add(loss.sum);
    loss.count.on_host() ? items_.add(static_cast<double>(loss.count.at_most())) : items_.add(loss.count.tensor());
    return loss.predictions;
  }

  void keep(const Batch& batch, at::Tensor predictions) {
    if (options_.forward) predictions = options_.forward(batch);
    if (!predictions.defined()) {
      throw Error(
          "evaluation: there are no predictions: set TrainerOptions::forward, or return them in Loss::predictions");
    }
    predictions_.push_back(predictions.cpu());
    for (const auto& name : options_.label_names) {
      if (batch.contains(name)) labels_[name].push_back(batch[name].cpu());
    }
  }

  Model& model_;
  const LossFunction& loss_;
  const TrainerOptions& options_;
  const EvaluationSettings& settings_;
  DeviceSum loss_sum_;
  DeviceSum items_;
  std::vector<at::Tensor> predictions_;
  std::map<std::string, std::vector<at::Tensor>> labels_;
};

double per_second(int64_t count, double seconds) { return seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0; }

}  // namespace

EvaluationResult run_evaluation(Model& model, const LossFunction& loss, const TrainerOptions& options,
                                const Dataset& dataset, const EvaluationSettings& settings) {
  const EvaluationMode mode(model);
  const GeneratorGuard generators(model.device());
  const at::NoGradGuard no_grad;
  const auto begin = std::chrono::steady_clock::now();
  Loader loader(dataset, settings.loader);
  Evaluation evaluation(model, loss, options, settings);
  EvaluationResult result;
  const int64_t total = *loader.batches_per_epoch();
  if (settings.on_batch) settings.on_batch(0, total);
  while (const auto batch = loader.next()) {
    evaluation.add(*batch);
    result.samples += batch->rows();
    ++result.batches;
    if (settings.on_batch) settings.on_batch(result.batches, total);
  }
  if (settings.compute_loss) result.loss = evaluation.loss();
  result.prediction = evaluation.take_prediction();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

Metrics evaluation_metrics(const EvaluationResult& result, const TrainerOptions& options,
                           const EvaluationSettings& settings, const std::string& prefix) {
  Metrics metrics{{prefix + "_runtime", result.seconds},
                  {prefix + "_samples_per_second", per_second(result.samples, result.seconds)},
                  {prefix + "_steps_per_second", per_second(result.batches, result.seconds)}};
  if (settings.compute_loss) metrics[prefix + "_loss"] = result.loss;
  if (options.compute_metrics && !result.prediction.labels.empty()) {
    for (const auto& [name, value] : options.compute_metrics(result.prediction)) {
      metrics[name.starts_with(prefix + "_") ? name : prefix + "_" + name] = value;
    }
  }
  return metrics;
}

}  // namespace lope
