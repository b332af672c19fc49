#pragma once
// Trains, evaluates and predicts: decides when things happen; the Stepper does them.
//
//   lope::Trainer trainer({.output_dir = "run", .learning_rate = 1e-3}, net, loss, {.train_dataset = &data});
//   lope::TrainOutput output = trainer.train();
//   lope::Metrics metrics = trainer.evaluate();

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "lope/batch.h"
#include "lope/callback.h"
#include "lope/collate.h"
#include "lope/dataset.h"
#include "lope/loss.h"
#include "lope/metrics.h"
#include "lope/model.h"
#include "lope/optimizer.h"
#include "lope/progress.h"
#include "lope/schedule.h"
#include "lope/training_arguments.h"

namespace lope {

class TrainerCore;

/// What `compute_metrics` gets: all rows of an evaluation, on the CPU.
struct EvalPrediction {
  /// (rows, ...), joined over batches; where other dimensions differ, filled up with -100.
  at::Tensor predictions;
  /// The batches' tensors named in `TrainerOptions::label_names`, joined the same way.
  Batch labels;
};

/// Data, and what the user puts in the place of the default. Everything pointed at outlives the trainer.
struct TrainerOptions {
  /// What to train on: a table, or a stream (which needs `max_steps`).
  const Dataset* train_dataset = nullptr;
  const IterableDataset* train_stream = nullptr;
  /// What `evaluate` and `eval_strategy` use.
  const Dataset* eval_dataset = nullptr;
  /// Joins examples where a data set has no batched fast path.
  Collator collator = stack_examples;
  /// From a batch on the model's device to its predictions (rows, ...). Without it predictions are those that the loss
  /// function gives in `Loss::predictions`.
  std::function<at::Tensor(const Batch&)> forward = nullptr;
  std::function<Metrics(const EvalPrediction&)> compute_metrics = nullptr;
  /// How many items a micro-batch has, counted on the host before it is moved: a hint for `Stepper::expect_items`. With
  /// it a window's micro-batches are loaded before the first of them is computed.
  std::function<int64_t(const Batch&)> count_items = nullptr;
  std::vector<std::string> label_names = {"labels"};
  /// Instead of the one that `optim` names. Its parameters must be on the trainer's device.
  std::shared_ptr<Optimizer> optimizer = nullptr;
  /// Factor of `learning_rate`, instead of the schedule that `lr_scheduler_type` names.
  RateFactor schedule = nullptr;
  /// Called after the default ones (progress bar, trainer_state.json), in this order.
  std::vector<std::shared_ptr<Callback>> callbacks = {};
  bool default_callbacks = true;
  /// Files that belong beside model.safetensors, by name: written by `save_model` and into every checkpoint.
  std::map<std::string, std::string> model_files = {};
  /// Asks training to stop: it ends the running window, saves a checkpoint unless `save_strategy` is "no", and returns.
  /// See StopSignals.
  std::stop_token stop_token = {};
};

/// What a training came to.
struct TrainOutput {
  int64_t global_step = 0;
  /// Mean loss over the windows of this run.
  double training_loss = 0;
  /// train_runtime (s), train_samples_per_second, train_steps_per_second, train_tokens_per_second, train_loss.
  Metrics metrics = {};
  /// Whether the stop token ended it before its time.
  bool interrupted = false;
  /// Everything that was said through `Callback::on_message`.
  std::vector<std::string> messages = {};
};

struct PredictOutput {
  at::Tensor predictions;
  Batch labels;
  /// test_loss, test_runtime and what `compute_metrics` gives, where labels allow.
  Metrics metrics;
};

/// The model is shared with the user and moved to the arguments' device.
class Trainer {
 public:
  /// Throws Error for arguments that are not allowed, a device that is not there, and data that is missing or given
  /// twice.
  Trainer(TrainingArguments arguments, Model model, LossFunction loss, TrainerOptions options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains from the model's present weights, or goes on from `resume_from_checkpoint` of the arguments to the same
  /// bits that it would have come to without the break. A second call starts anew, with a new optimizer state, schedule
  /// and order. Throws Error when the gradient was not finite in `max_nonfinite_updates` updates in a row, when a
  /// checkpoint cannot be saved (`save_on_error`), and when one does not fit model, optimizer or data.
  TrainOutput train();
  /// As above, but from this checkpoint: its folder, "true" for the newest whole one in `output_dir` (from the start,
  /// with a message, where there is none), or "" for none.
  TrainOutput train(const std::string& resume_from_checkpoint);

  /// Mean loss over all items of a data set, and what `compute_metrics` gives; names begin with `prefix` and "_".
  /// Changes nothing of a training: not the mode of the model, nor its buffers, nor random generators.
  Metrics evaluate();
  Metrics evaluate(const Dataset& dataset, const std::string& prefix = "eval");
  PredictOutput predict(const Dataset& dataset, const std::string& prefix = "test");

  /// Writes model.safetensors, training_args.json and `model_files` to `directory`, by default `output_dir`.
  void save_model(const std::filesystem::path& directory = {}) const;

  const TrainingArguments& arguments() const;
  Model& model();
  const Progress& progress() const;
  const std::vector<LogEntry>& log_history() const;

 private:
  std::unique_ptr<TrainerCore> core_;
};

}  // namespace lope
