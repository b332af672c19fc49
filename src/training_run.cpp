#include "training_run.h"

#include <fmt/format.h>

#include <cmath>

#include "lope/error.h"
#include "lope/optimizer_factory.h"
#include "lope/seed.h"
#include "trainer_loaders.h"

namespace lope {
namespace {

Loader make_loader(const TrainerCore& trainer) {
  const TrainerOptions& options = trainer.options;
  LoaderOptions loader = training_loader_options(trainer.arguments, options, trainer.model.device());
  return options.train_dataset != nullptr ? Loader(*options.train_dataset, std::move(loader))
                                          : Loader(*options.train_stream, std::move(loader));
}

Plan make_plan(const TrainingArguments& arguments, const Loader& loader) {
  return plan({.batches_per_epoch = loader.batches_per_epoch(),
               .gradient_accumulation_steps = arguments.gradient_accumulation_steps,
               .num_train_epochs = arguments.num_train_epochs,
               .max_steps = arguments.max_steps,
               .warmup_steps = arguments.warmup_steps,
               .logging_steps = arguments.logging_steps,
               .eval_steps = arguments.eval_interval(),
               .save_steps = arguments.save_steps});
}

std::shared_ptr<Optimizer> take_optimizer(TrainerCore& trainer) {
  if (!trainer.options.optimizer) return make_optimizer(trainer.arguments, trainer.model);
  if (trainer.optimizer_used) trainer.options.optimizer->reset();
  trainer.optimizer_used = true;
  return trainer.options.optimizer;
}

StepperOptions stepper_options(const TrainerCore& trainer) {
  const TrainingArguments& arguments = trainer.arguments;
  return {.precision = trainer.precision,
          .max_grad_norm = arguments.max_grad_norm,
          .max_grad_value = arguments.max_grad_value,
          .scaler = {.init_scale = arguments.fp16_init_scale, .growth_interval = arguments.fp16_scale_growth_interval},
          .expected_micro_batches = arguments.gradient_accumulation_steps};
}

std::string metric_key(const TrainingArguments& arguments) {
  const std::string name = arguments.best_metric();
  return name.starts_with("eval_") ? name : "eval_" + name;
}

}  // namespace

TrainingRun::TrainingRun(TrainerCore& trainer)
    : trainer_(trainer),
      loader_(make_loader(trainer)),
      optimizer_(take_optimizer(trainer)),
      schedule_(trainer.arguments, trainer.options.schedule, trainer.plan = make_plan(trainer.arguments, loader_)),
      stepper_(trainer.model, *optimizer_, trainer.loss, schedule_.rate(), stepper_options(trainer)),
      saver_({.in_background = trainer.arguments.save_in_background, .limit = trainer.arguments.save_total_limit}) {}

TrainOutput TrainingRun::run(const std::string& resume_from_checkpoint) {
  set_seed(static_cast<uint64_t>(trainer_.arguments.seed));
  trainer_.model.train(true);
  begin_ = std::chrono::steady_clock::now();
  resume(resume_from_checkpoint);
  if (saves()) prepare_saving();
  first_ = trainer_.progress;
  notify([this](Callback& callback, const TrainingContext& context) { callback.on_train_begin(context, control_); });
  if (trainer_.arguments.eval_on_start && first_.step == 0) evaluate();
  // A checkpoint of the last update: what comes at the end of its epoch is still to be done.
  if (finished() && !interrupted() && inside_epoch()) run_epoch();
  while (!finished()) run_epoch();
  return finish();
}

void TrainingRun::run_epoch() {
  if (trainer_.progress.micro_step == 0) {
    loader_.seek({.epoch = trainer_.progress.epoch});
    notify([this](Callback& callback, const TrainingContext& context) { callback.on_epoch_begin(context, control_); });
  }
  epoch_ended_ = false;
  bool exhausted = false;
  while (!finished() && !exhausted) {
    exhausted = !accumulate_window();
    if (stepper_.window_size() > 0) after_update(stepper_.update());
  }
  if (interrupted()) return;
  if (trainer_.progress.micro_step == 0) {
    throw Error(fmt::format("training data: epoch {} yields no example: give at least one", trainer_.progress.epoch));
  }
  end_epoch();
}

bool TrainingRun::load_window() {
  int64_t items = 0;
  while (static_cast<int64_t>(loaded_.size()) < trainer_.arguments.gradient_accumulation_steps) {
    auto batch = loader_.next();
    if (!batch) break;
    items += trainer_.options.count_items(*batch);
    loaded_.push_back(std::move(*batch));
  }
  stepper_.expect_items(items);
  return !loaded_.empty();
}

std::optional<Batch> TrainingRun::next_batch(bool exhausted) {
  if (!trainer_.options.count_items) return loader_.next();
  if (exhausted || loaded_.empty()) return std::nullopt;
  std::optional<Batch> batch = std::move(loaded_.front());
  loaded_.pop_front();
  return batch;
}

bool TrainingRun::accumulate_window() {
  Progress& progress = trainer_.progress;
  bool exhausted = false;
  if (trainer_.options.count_items) exhausted = !load_window();
  while (stepper_.window_size() < trainer_.arguments.gradient_accumulation_steps) {
    const auto batch = next_batch(exhausted);
    if (!batch) return false;
    stepper_.accumulate(*batch);
    ++progress.micro_step;
    progress.samples += batch->rows();
    progress.tokens += batch->tokens();
  }
  return trainer_.plan.batches_per_epoch.value_or(progress.micro_step + 1) != progress.micro_step;
}

bool TrainingRun::every(const std::string& strategy, int64_t interval) const {
  return strategy == "steps" && trainer_.progress.step % interval == 0;
}

void TrainingRun::after_update(const StepReport& report) {
  const TrainingArguments& arguments = trainer_.arguments;
  ++trainer_.progress.step;
  notify([&](Callback& callback, const TrainingContext& context) { callback.on_step_end(context, report, control_); });
  const bool first = arguments.logging_first_step && trainer_.progress.step == 1;
  const bool last = trainer_.progress.step >= trainer_.plan.max_steps;
  act({.log = first || every(arguments.logging_strategy, trainer_.plan.logging_steps),
       .evaluate =
           every(arguments.eval_strategy, trainer_.plan.eval_steps) || (last && arguments.eval_strategy == "steps"),
       .save =
           every(arguments.save_strategy, trainer_.plan.save_steps) || (last && arguments.save_strategy == "steps")});
}

void TrainingRun::end_epoch() {
  epoch_ended_ = true;
  const bool complete =
      !finished() || !loader_.batches_per_epoch() || trainer_.progress.micro_step == *loader_.batches_per_epoch();
  if (complete) {
    ++trainer_.progress.epoch;
    trainer_.progress.micro_step = 0;
  }
  notify([this](Callback& callback, const TrainingContext& context) { callback.on_epoch_end(context, control_); });
  act({.log = trainer_.arguments.logging_strategy == "epoch",
       .evaluate = trainer_.arguments.eval_strategy == "epoch",
       .save = trainer_.arguments.save_strategy == "epoch"});
}

void TrainingRun::act(Due due) {
  improved_ = false;
  if (due.log || control_.log) log();
  if (due.evaluate || control_.evaluate) evaluate();
  if (due.save || control_.save || (improved_ && trainer_.arguments.save_strategy == "best")) save();
  take_outcomes();
  control_ = {.stop = control_.stop};
}

void TrainingRun::message(const std::string& text) {
  messages_.push_back(text);
  notify([&](Callback& callback, const TrainingContext& context) { callback.on_message(context, text); });
}

void TrainingRun::read_totals() {
  totals_ = stepper_.take_totals();
  meter_.add(totals_);
  trainer_.progress.skipped = totals_.skipped;
  const int64_t limit = trainer_.arguments.max_nonfinite_updates;
  if (limit > 0 && totals_.nonfinite_run >= limit) {
    throw Error(
        fmt::format("training stopped at step {}: the gradient was not finite in {} updates in a row "
                    "(max_nonfinite_updates {}); lower the learning rate, or look for NaN in the data",
                    trainer_.progress.step, totals_.nonfinite_run, limit));
  }
}

void TrainingRun::log() {
  read_totals();
  LogEntry entry;
  entry.values = {{"loss", meter_.take_recent()},
                  {"grad_norm", totals_.last.grad_norm},
                  {"learning_rate", totals_.last.learning_rate}};
  if (totals_.skipped > logged_skips_) {
    entry.values.emplace_back("skipped", static_cast<double>(totals_.skipped - logged_skips_));
  }
  logged_skips_ = totals_.skipped;
  add_log_entry(std::move(entry));
}

void TrainingRun::add_log_entry(LogEntry entry) {
  entry.epoch = trainer_.context().epoch;
  entry.step = trainer_.progress.step;
  trainer_.log_history.push_back(entry);
  notify([&](Callback& callback, const TrainingContext& context) { callback.on_log(context, entry, control_); });
}

void TrainingRun::evaluate() {
  if (trainer_.options.eval_dataset == nullptr) {
    throw Error("a callback asked for an evaluation but there is no eval_dataset: set TrainerOptions::eval_dataset");
  }
  if (evaluated_at_ == trainer_.progress.step) return;
  evaluated_at_ = trainer_.progress.step;
  evaluated_metric_.reset();
  read_totals();
  const Metrics metrics = trainer_.evaluate(*trainer_.options.eval_dataset, "eval");
  LogEntry entry;
  entry.values.assign(metrics.begin(), metrics.end());
  track_best(metrics);
  add_log_entry(std::move(entry));
  notify([&](Callback& callback, const TrainingContext& context) { callback.on_evaluate(context, metrics, control_); });
}

void TrainingRun::track_best(const Metrics& metrics) {
  const std::string key = metric_key(trainer_.arguments);
  const auto found = metrics.find(key);
  if (found == metrics.end()) {
    if (trainer_.arguments.metric_for_best_model.empty()) return;
    std::string names;
    for (const auto& item : metrics) names += (names.empty() ? "" : ", ") + item.first;
    throw Error(fmt::format("metric_for_best_model is \"{}\" but evaluation gives {}: choose one of these",
                            trainer_.arguments.metric_for_best_model, names));
  }
  const double value = found->second;
  if (schedule_.wants_metric() && schedule_.step(value)) stepper_.set_learning_rate(schedule_.rate());
  if (std::isnan(value)) return;
  evaluated_metric_ = value;
  improved_ = better(value, trainer_.best);
  if (improved_) trainer_.best = BestMetric{value, trainer_.progress.step};
}

bool TrainingRun::better(double value, const std::optional<BestMetric>& than) const {
  if (!than) return true;
  return trainer_.arguments.best_is_greater() ? value > than->value : value < than->value;
}

TrainOutput TrainingRun::finish() {
  if (interrupted() && saves() && trainer_.progress.step > first_.step) save();
  saver_.wait();
  take_outcomes();
  if (trainer_.arguments.load_best_model_at_end && !interrupted()) load_best_model();
  read_totals();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const auto rate = [&](int64_t count) { return seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0; };
  const Progress& progress = trainer_.progress;
  LogEntry entry;
  entry.values = {{"train_runtime", seconds},
                  {"train_samples_per_second", rate(progress.samples - first_.samples)},
                  {"train_steps_per_second", rate(progress.step - first_.step)},
                  {"train_tokens_per_second", rate(progress.tokens - first_.tokens)},
                  {"train_loss", meter_.run_mean()}};
  TrainOutput output{.global_step = progress.step,
                     .training_loss = meter_.run_mean(),
                     .interrupted = interrupted(),
                     .messages = std::move(messages_)};
  output.metrics.insert(entry.values.begin(), entry.values.end());
  add_log_entry(std::move(entry));
  notify([](Callback& callback, const TrainingContext& context) { callback.on_train_end(context); });
  return output;
}

}  // namespace lope
