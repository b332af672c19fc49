#include "lope/trainer.h"

#include <fmt/format.h>

#include "checkpoint_files.h"
#include "lope/atomic_file.h"
#include "lope/callbacks/default_callbacks.h"
#include "lope/device.h"
#include "lope/error.h"
#include "lope/safetensors.h"
#include "trainer_core.h"
#include "trainer_loaders.h"
#include "training_run.h"

namespace lope {
namespace {

void check_data(const TrainingArguments& arguments, const TrainerOptions& options) {
  if (options.train_dataset != nullptr && options.train_stream != nullptr) {
    throw Error("trainer: train_dataset and train_stream are both given: give one of them");
  }
  if (arguments.eval_strategy != "no" && options.eval_dataset == nullptr) {
    throw Error(
        fmt::format("eval_strategy is \"{}\" but there is no eval_dataset: give one, or set eval_strategy to no",
                    arguments.eval_strategy));
  }
  const bool plateau = arguments.lr_scheduler_type == "reduce_lr_on_plateau" && !options.schedule;
  if (plateau && arguments.eval_strategy == "no") {
    throw Error(
        "lr_scheduler_type is \"reduce_lr_on_plateau\" but eval_strategy is \"no\": it needs evaluations; set steps or "
        "epoch");
  }
}

void write_whole(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
}

}  // namespace

TrainerCore::TrainerCore(TrainingArguments given, Model trained, LossFunction loss_function,
                         TrainerOptions trainer_options)
    : arguments(std::move(given)),
      model(std::move(trained)),
      loss(std::move(loss_function)),
      options(std::move(trainer_options)),
      precision(pick_precision(arguments)) {
  arguments.validate();
  check_data(arguments, options);
  if (!loss) throw Error("trainer: there is no loss function: give a closure from a batch to its loss");
  apply_compute_settings(arguments);
  const at::Device device = pick_device(arguments);
  if (model.device() != device) model.to(device);
  if (options.default_callbacks) {
    for (auto& callback : default_callbacks(arguments)) callbacks.push_back(std::move(callback));
  }
  callbacks.insert(callbacks.end(), options.callbacks.begin(), options.callbacks.end());
}

TrainingContext TrainerCore::context() const {
  return {.arguments = arguments,
          .plan = plan,
          .progress = progress,
          .epoch = reported_epoch(progress.epoch, progress.micro_step, plan.batches_per_epoch),
          .log_history = log_history,
          .best = best,
          .best_model_checkpoint = best_model_checkpoint};
}

EvaluationSettings TrainerCore::evaluation_settings() const {
  return {.precision = precision,
          .loader = evaluation_loader_options(arguments, options, model.device()),
          .keep_predictions = static_cast<bool>(options.compute_metrics),
          .on_batch = [this](int64_t done, int64_t total) {
            for (const auto& callback : callbacks) callback->on_evaluation_step(context(), done, total);
          }};
}

TrainOutput TrainerCore::train(const std::string& resume_from_checkpoint) {
  if (options.train_dataset == nullptr && options.train_stream == nullptr) {
    throw Error("trainer: there is nothing to train on: set TrainerOptions::train_dataset or train_stream");
  }
  progress = {};
  log_history.clear();
  best.reset();
  best_model_checkpoint.clear();
  TrainingRun run(*this);
  return run.run(resume_from_checkpoint);
}

Metrics TrainerCore::evaluate(const Dataset& dataset, const std::string& prefix) {
  const EvaluationSettings settings = evaluation_settings();
  const EvaluationResult result = run_evaluation(model, loss, options, dataset, settings);
  return evaluation_metrics(result, options, settings, prefix);
}

PredictOutput TrainerCore::predict(const Dataset& dataset, const std::string& prefix) {
  EvaluationSettings settings = evaluation_settings();
  settings.keep_predictions = true;
  settings.compute_loss = !options.forward;
  EvaluationResult result = run_evaluation(model, loss, options, dataset, settings);
  Metrics metrics = evaluation_metrics(result, options, settings, prefix);
  return {std::move(result.prediction.predictions), std::move(result.prediction.labels), std::move(metrics)};
}

void TrainerCore::save_model(const std::filesystem::path& given) const {
  const std::filesystem::path directory = given.empty() ? std::filesystem::path(arguments.output_dir) : given;
  std::filesystem::create_directories(directory);
  save_safetensors(directory / checkpoint_files::kModel, model.state(), {{"format", "pt"}});
  write_whole(directory / checkpoint_files::kArguments, arguments.to_json() + "\n");
  for (const auto& [name, text] : options.model_files) write_whole(directory / name, text);
}

Trainer::Trainer(TrainingArguments arguments, Model model, LossFunction loss, TrainerOptions options)
    : core_(
          std::make_unique<TrainerCore>(std::move(arguments), std::move(model), std::move(loss), std::move(options))) {}

Trainer::~Trainer() = default;

TrainOutput Trainer::train() { return core_->train(core_->arguments.resume_from_checkpoint); }

TrainOutput Trainer::train(const std::string& resume_from_checkpoint) { return core_->train(resume_from_checkpoint); }

Metrics Trainer::evaluate() {
  if (core_->options.eval_dataset == nullptr) {
    throw Error("trainer: there is nothing to evaluate on: set TrainerOptions::eval_dataset, or give a data set");
  }
  return core_->evaluate(*core_->options.eval_dataset, "eval");
}

Metrics Trainer::evaluate(const Dataset& dataset, const std::string& prefix) {
  return core_->evaluate(dataset, prefix);
}

PredictOutput Trainer::predict(const Dataset& dataset, const std::string& prefix) {
  return core_->predict(dataset, prefix);
}

void Trainer::save_model(const std::filesystem::path& directory) const { core_->save_model(directory); }

const TrainingArguments& Trainer::arguments() const { return core_->arguments; }

Model& Trainer::model() { return core_->model; }

const Progress& Trainer::progress() const { return core_->progress; }

const std::vector<LogEntry>& Trainer::log_history() const { return core_->log_history; }

}  // namespace lope
