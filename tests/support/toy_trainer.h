#pragma once
// A Trainer over the toy: SGD with rate 0.1, sequential data, one row a micro-batch, constant rate, no files.
//
//   Toy toy;
//   const auto data = target_rows({1, 1, 1});
//   train(toy, toy_arguments({.gradient_accumulation_steps = 2}), {.train_dataset = &data});

#include <lope/trainer.h>

#include <string>
#include <utility>
#include <vector>

#include "support/counted_data.h"
#include "support/toy.h"

namespace lope::testing {

inline TrainingArguments toy_arguments() {
  TrainingArguments arguments;
  arguments.use_cpu = true;
  arguments.disable_tqdm = true;
  arguments.per_device_train_batch_size = 1;
  arguments.num_train_epochs = 1;
  arguments.optim = "sgd";
  arguments.learning_rate = 0.1;
  arguments.lr_scheduler_type = "constant";
  arguments.max_grad_norm = 0.0;
  arguments.logging_steps = 1;
  arguments.save_strategy = "no";
  arguments.train_sampling_strategy = "sequential";
  return arguments;
}

/// Watches without steering: the weight after each update.
class WeightRecorder : public Callback {
 public:
  explicit WeightRecorder(const Toy& toy) : toy_(toy) {}
  void on_step_end(const TrainingContext&, const StepReport&, Control&) override { weights.push_back(toy_.w()); }

  std::vector<double> weights;

 private:
  const Toy& toy_;
};

struct ToyRun {
  TrainOutput output;
  std::vector<double> weights;
  std::vector<LogEntry> log;
  Progress progress;
};

inline ToyRun train(Toy& toy, const TrainingArguments& arguments, TrainerOptions options) {
  auto recorder = std::make_shared<WeightRecorder>(toy);
  options.default_callbacks = false;
  options.callbacks.push_back(recorder);
  Trainer trainer(arguments, toy.model, toy.loss(), std::move(options));
  ToyRun run;
  run.output = trainer.train();
  run.weights = recorder->weights;
  run.log = trainer.log_history();
  run.progress = trainer.progress();
  return run;
}

/// The values called `name` of the entries that have it.
inline std::vector<double> logged(const std::vector<LogEntry>& log, std::string_view name) {
  std::vector<double> values;
  for (const auto& entry : log) {
    if (const auto value = entry.find(name)) values.push_back(*value);
  }
  return values;
}

/// The steps of the entries that have `name`.
inline std::vector<int64_t> logged_steps(const std::vector<LogEntry>& log, std::string_view name) {
  std::vector<int64_t> steps;
  for (const auto& entry : log) {
    if (entry.find(name)) steps.push_back(entry.step);
  }
  return steps;
}

}  // namespace lope::testing
