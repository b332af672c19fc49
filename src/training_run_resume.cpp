// Going on from a checkpoint.

#include <fmt/format.h>

#include <cmath>

#include "changed_arguments.h"
#include "checkpoint_files.h"
#include "lope/checkpoint_folder.h"
#include "lope/checkpoints.h"
#include "lope/error.h"
#include "lope/seed.h"
#include "lope/weights.h"
#include "training_run.h"
#include "window_math.h"

namespace lope {
namespace {

/// What is read from a checkpoint before anything is changed.
struct SavedTexts {
  RunPosition position;
  TrainerState state;
  TrainingArguments arguments;
};

template <typename Read>
auto read(const CheckpointReader& reader, const char* file, Read from_json) {
  try {
    return from_json(reader.text(file));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", (reader.folder() / file).string(), error.what()));
  }
}

SavedTexts read_texts(const CheckpointReader& reader) {
  if (!reader.contains(checkpoint_files::kProgress)) {
    throw Error(
        fmt::format("{} holds the model only (save_only_model): training cannot go on from it; give another, or "
                    "load its weights with load_weights",
                    reader.folder().string()));
  }
  return {read(reader, checkpoint_files::kProgress, RunPosition::from_json),
          read(reader, checkpoint_files::kTrainerState, TrainerState::from_json),
          read(reader, checkpoint_files::kArguments, TrainingArguments::from_json)};
}

/// The kinds of adamw_torch have the same state.
std::string kind_of(const std::string& optimizer) {
  return optimizer == "adamw_torch_fused" ? "adamw_torch" : optimizer;
}

/// Those whose names begin with `prefix`, without it.
TensorMap with_prefix(const TensorMap& tensors, const std::string& prefix) {
  TensorMap found;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), tensor);
  }
  return found;
}

/// What the stepper had summed up since it was last asked.
LossMeter::Mean unread_losses(const TensorMap& stepper_state) {
  const auto* totals = reinterpret_cast<const window::Totals*>(stepper_state.at("totals").const_data_ptr<double>());
  return {totals->loss_sum, static_cast<int64_t>(totals->windows)};
}

void check_optimizer(const std::string& saved, const std::string& present) {
  if (kind_of(saved) == kind_of(present)) return;
  throw Error(fmt::format("optim is \"{}\", but the checkpoint's state is of \"{}\": set optim to it, or start anew",
                          present, saved));
}

}  // namespace

void TrainingRun::resume(const std::string& resume_from_checkpoint) {
  const auto folder = find_checkpoint(resume_from_checkpoint);
  if (!folder) return;
  restore(*folder);
  message(fmt::format("training goes on from {}: update {} of {}", folder->string(), trainer_.progress.step,
                      trainer_.plan.max_steps));
}

std::optional<std::filesystem::path> TrainingRun::find_checkpoint(const std::string& resume_from_checkpoint) {
  if (resume_from_checkpoint.empty() || resume_from_checkpoint == "false") return std::nullopt;
  if (resume_from_checkpoint != "true") {
    if (std::filesystem::is_directory(resume_from_checkpoint)) return resume_from_checkpoint;
    throw Error(
        fmt::format("resume_from_checkpoint is \"{}\": there is no such folder; give that of a checkpoint, or "
                    "true for the newest in output_dir",
                    resume_from_checkpoint));
  }
  const FoundCheckpoint found = find_newest_checkpoint(trainer_.arguments.output_dir);
  for (const std::string& line : found.passed_over) message(line);
  if (!found.folder) {
    message(fmt::format("{} has no checkpoint to go on from: training starts from the beginning",
                        trainer_.arguments.output_dir));
  }
  return found.folder;
}

void TrainingRun::restore(const std::filesystem::path& folder) {
  const CheckpointReader reader(folder);
  const SavedTexts saved = read_texts(reader);
  check_optimizer(saved.position.optimizer, position().optimizer);
  check_same_order(saved.arguments, trainer_.arguments, saved.position, loader_.examples_per_epoch());
  optimizer_->load_state(reader.tensors(checkpoint_files::kOptimizer));
  const TensorMap stepper_state = reader.tensors(checkpoint_files::kStepper);
  stepper_.load_state(stepper_state);
  meter_.resume(saved.position.recent, unread_losses(stepper_state));
  load_weights(trainer_.model, reader.tensors(checkpoint_files::kModel));
  trainer_.log_history = saved.state.log_history;
  if (saved.state.best_metric && saved.state.best_global_step) {
    trainer_.best = BestMetric{*saved.state.best_metric, *saved.state.best_global_step};
  }
  if (saved.state.best_model_checkpoint) {
    // The folder of the run may have been moved since.
    const std::filesystem::path best = *saved.state.best_model_checkpoint;
    trainer_.best_model_checkpoint = std::filesystem::exists(best) ? best : folder.parent_path() / best.filename();
  }
  restore_position(saved.position);
  for (const std::string& line : changes_since(saved.arguments, trainer_.arguments)) message(line);
  if (schedule_.wants_metric() && saved.position.plateau) {
    Plateau::State plateau = *saved.position.plateau;
    plateau.learning_rate *= trainer_.arguments.learning_rate / saved.arguments.learning_rate;
    schedule_.load_plateau(plateau);
    stepper_.set_learning_rate(schedule_.rate());
  }
  restore_callbacks(saved.state, reader.contains(checkpoint_files::kCallbacks)
                                     ? reader.tensors(checkpoint_files::kCallbacks)
                                     : TensorMap());
  load_generator_states(reader.tensors(checkpoint_files::kGenerators));
}

void TrainingRun::restore_position(const RunPosition& position) {
  trainer_.progress = position.progress;
  loader_.seek(position.loader);
  epoch_ended_ = position.epoch_ended;
  evaluated_at_ = position.evaluated_at;
  logged_skips_ = position.logged_skips;
  best_saved_ = position.best_saved;
  if (const auto batches = loader_.batches_per_epoch(); batches && position.loader.examples > 0) {
    // Counted from the end, so that it fits a batch size that has changed too.
    const int64_t left = *loader_.examples_per_epoch() - position.loader.examples;
    const int64_t size = trainer_.arguments.per_device_train_batch_size;
    trainer_.progress.micro_step = *batches - (left + size - 1) / size;
  }
}

void TrainingRun::restore_callbacks(const TrainerState& state, const TensorMap& tensors) {
  for (const auto& callback : trainer_.callbacks) {
    if (callback->name().empty()) continue;
    const auto found = state.stateful_callbacks.find(std::string(callback->name()));
    if (found != state.stateful_callbacks.end()) {
      callback->load_state(found->second);
      callback->load_tensors(with_prefix(tensors, fmt::format("{}/", callback->name())));
    } else {
      message(fmt::format("the checkpoint has no state of {}: it starts anew", callback->name()));
    }
  }
}

}  // namespace lope
