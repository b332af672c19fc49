#include <cmath>

#include "lope/error.h"
#include "lope/training_arguments.h"
#include "training_arguments_fields.h"

namespace lope {
namespace {

using A = TrainingArguments;

void check_every_field(const A& arguments) {
  for (const FieldGroup& group : training_arguments_groups()) {
    for (const Field& field : group.fields) check_field(field, field.name, arguments);
  }
}

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}

void check_length(const A& arguments) {
  require(arguments.max_steps > 0 || arguments.num_train_epochs > 0,
          "num_train_epochs is 0: it must be above 0, or set max_steps above 0");
}

void check_device(const A& arguments) {
  require(!arguments.fp16 || !arguments.bf16, "fp16 and bf16 are both true: set at most one of them");
  require(!arguments.use_cpu || arguments.device == "auto" || arguments.device == "cpu",
          "use_cpu is true and device is \"" + arguments.device + "\": set use_cpu to false or device to \"cpu\"");
}

// True when saves fall on evaluations; counts and parts of all updates cannot be compared.
bool saves_follow_evaluations(const A& arguments) {
  constexpr double kSmall = 1e-6;
  if ((arguments.save_steps < 1) != (arguments.eval_interval() < 1)) return false;
  const double ratio = arguments.save_steps / arguments.eval_interval();
  return std::round(ratio) >= 1 && std::abs(ratio - std::round(ratio)) < kSmall;
}

void check_best_model(const A& arguments) {
  const bool evaluates = arguments.eval_strategy != "no";
  const bool saves_best = arguments.save_strategy == "best";
  require(evaluates || !saves_best,
          "save_strategy is \"best\" and eval_strategy is \"no\": set eval_strategy to \"steps\" or \"epoch\"");
  if (!arguments.load_best_model_at_end) return;
  require(evaluates,
          "load_best_model_at_end is true and eval_strategy is \"no\": set eval_strategy to \"steps\" or \"epoch\"");
  require(saves_best || arguments.save_strategy == arguments.eval_strategy,
          "load_best_model_at_end is true, eval_strategy is \"" + arguments.eval_strategy +
              "\" and save_strategy is \"" + arguments.save_strategy + "\": set save_strategy to \"" +
              arguments.eval_strategy + "\" or \"best\"");
  require(saves_best || arguments.eval_strategy != "steps" || saves_follow_evaluations(arguments),
          "load_best_model_at_end is true, save_steps is " + number_text(arguments.save_steps) + " and eval_steps is " +
              number_text(arguments.eval_interval()) + ": save_steps must be a multiple of eval_steps");
}

void check_schedule(const A& arguments) {
  require(arguments.lr_scheduler_type != "reduce_lr_on_plateau" || arguments.eval_strategy != "no",
          "lr_scheduler_type is \"reduce_lr_on_plateau\" and eval_strategy is \"no\": set eval_strategy to \"steps\" "
          "or \"epoch\"");
}

void check_workers(const A& arguments) {
  if (arguments.dataloader_num_workers > 0) return;
  require(!arguments.dataloader_prefetch_factor,
          "dataloader_prefetch_factor is set and dataloader_num_workers is 0: set dataloader_num_workers above 0");
  require(!arguments.dataloader_persistent_workers,
          "dataloader_persistent_workers is true and dataloader_num_workers is 0: set dataloader_num_workers above 0");
}

}  // namespace

void TrainingArguments::validate() const {
  check_every_field(*this);
  check_length(*this);
  check_device(*this);
  check_best_model(*this);
  check_schedule(*this);
  check_workers(*this);
}

}  // namespace lope
