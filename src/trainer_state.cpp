#include <fmt/format.h>
#include <lope/atomic_file.h>
#include <lope/callback.h>
#include <lope/error.h>
#include <lope/trainer_state.h>

#include <fstream>
#include <sstream>

namespace lope {

TrainerState TrainerState::of(const TrainingContext& context) {
  TrainerState state;
  state.epoch = context.epoch;
  state.global_step = context.progress.step;
  state.max_steps = context.plan.max_steps;
  state.num_train_epochs = context.plan.epochs;
  state.logging_steps = context.plan.logging_steps;
  state.eval_steps = context.plan.eval_steps;
  state.save_steps = context.plan.save_steps;
  state.train_batch_size = context.arguments.per_device_train_batch_size;
  state.num_input_tokens_seen = context.progress.tokens;
  state.log_history = context.log_history;
  if (context.best) {
    state.best_metric = context.best->value;
    state.best_global_step = context.best->step;
  }
  if (!context.best_model_checkpoint.empty()) state.best_model_checkpoint = context.best_model_checkpoint.string();
  return state;
}

void TrainerState::save(const std::filesystem::path& path) const {
  AtomicFile file(path.string());
  file.write(to_json());
  file.commit();
}

TrainerState TrainerState::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) {
    throw Error(fmt::format("cannot read {}: it must be a trainer_state.json; check the path", path.string()));
  }
  try {
    return from_json(text.str());
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace lope
