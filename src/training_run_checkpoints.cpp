// Saving: when a checkpoint is due, what it holds, and what comes of it.

#include <fmt/format.h>

#include "checkpoint_files.h"
#include "lope/checkpoint_folder.h"
#include "lope/checkpoints.h"
#include "lope/error.h"
#include "lope/seed.h"
#include "lope/weights.h"
#include "training_run.h"

namespace lope {

void TrainingRun::prepare_saving() {
  const std::filesystem::path output_dir = trainer_.arguments.output_dir;
  remove_unfinished(output_dir);
  const auto present = list_checkpoints(output_dir);
  if (trainer_.progress.step > 0 || present.empty()) return;
  message(
      fmt::format("{} has checkpoints of an earlier training up to {}: to go on from there set resume_from_checkpoint",
                  output_dir.string(), present.back().folder.filename().string()));
}

void TrainingRun::save() {
  if (saved_at_ == trainer_.progress.step) return;
  saved_at_ = trainer_.progress.step;
  saver_.wait();
  take_outcomes();
  const auto folder =
      std::filesystem::path(trainer_.arguments.output_dir) / fmt::format("checkpoint-{}", trainer_.progress.step);
  note_best_saved(folder);
  std::vector<std::filesystem::path> kept;
  if (!trainer_.best_model_checkpoint.empty()) kept.push_back(trainer_.best_model_checkpoint);
  saver_.save(folder, contents(), std::move(kept));
}

void TrainingRun::note_best_saved(const std::filesystem::path& folder) {
  best_saved_before_ = best_saved_;
  best_checkpoint_before_ = trainer_.best_model_checkpoint;
  const bool evaluated_now = evaluated_at_ == trainer_.progress.step && evaluated_metric_;
  if (!evaluated_now || !better(*evaluated_metric_, best_saved_)) return;
  best_saved_ = BestMetric{*evaluated_metric_, trainer_.progress.step};
  trainer_.best_model_checkpoint = folder;
}

CheckpointContents TrainingRun::contents() const {
  CheckpointContents contents;
  contents.texts = trainer_.options.model_files;
  contents.texts[checkpoint_files::kTrainerState] = trainer_state_text();
  contents.texts[checkpoint_files::kArguments] = trainer_.arguments.to_json() + "\n";
  contents.tensors[checkpoint_files::kModel] = trainer_.model.state();
  if (trainer_.arguments.save_only_model) return contents;
  contents.texts[checkpoint_files::kProgress] = position().to_json();
  contents.tensors[checkpoint_files::kOptimizer] = optimizer_->state();
  contents.tensors[checkpoint_files::kStepper] = stepper_.state();
  contents.tensors[checkpoint_files::kGenerators] = generator_states();
  for (const auto& callback : trainer_.callbacks) {
    for (const auto& [name, tensor] : callback->tensors()) {
      contents.tensors[checkpoint_files::kCallbacks].emplace(fmt::format("{}/{}", callback->name(), name), tensor);
    }
  }
  return contents;
}

std::string TrainingRun::trainer_state_text() const {
  TrainerState state = TrainerState::of(trainer_.context());
  for (const auto& callback : trainer_.callbacks) {
    if (!callback->name().empty()) state.stateful_callbacks[std::string(callback->name())] = callback->state();
  }
  return state.to_json();
}

RunPosition TrainingRun::position() const {
  const Progress& progress = trainer_.progress;
  return {.progress = progress,
          // Between two epochs the loader still stands at the end of the last one.
          .loader = progress.micro_step == 0 ? LoaderPosition{.epoch = progress.epoch} : loader_.position(),
          .examples_per_epoch = loader_.examples_per_epoch(),
          .epoch_ended = epoch_ended_,
          .evaluated_at = evaluated_at_,
          .logged_skips = logged_skips_,
          .recent = meter_.recent(),
          .plateau = schedule_.plateau_state(),
          .optimizer = trainer_.options.optimizer ? "own" : trainer_.arguments.optim,
          .best_saved = best_saved_};
}

void TrainingRun::take_outcomes() {
  for (const SaveOutcome& outcome : saver_.take_outcomes()) {
    if (outcome.error.empty()) {
      notify([&](Callback& callback, const TrainingContext& context) { callback.on_save(context, outcome.folder); });
      continue;
    }
    const std::string text = fmt::format("{} could not be saved: {}", outcome.folder.string(), outcome.error);
    if (trainer_.best_model_checkpoint == outcome.folder) {
      trainer_.best_model_checkpoint = best_checkpoint_before_;
      best_saved_ = best_saved_before_;
    }
    if (trainer_.arguments.save_on_error == "continue") {
      message(text + "; training goes on (save_on_error continue)");
      continue;
    }
    throw Error(fmt::format("{}; training stopped at update {}, earlier checkpoints are untouched", text,
                            trainer_.progress.step));
  }
}

void TrainingRun::load_best_model() {
  const std::filesystem::path& folder = trainer_.best_model_checkpoint;
  if (folder.empty()) {
    message("load_best_model_at_end: no evaluation has a checkpoint: the model keeps its last weights");
    return;
  }
  load_weights(trainer_.model, CheckpointReader(folder).tensors(checkpoint_files::kModel));
  message(fmt::format("the model has the weights of {}, with the best {} {}", folder.string(),
                      trainer_.arguments.best_metric(), best_saved_->value));
}

}  // namespace lope
