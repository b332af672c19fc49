#include <algorithm>
#include <array>
#include <cctype>

#include "training_arguments_fields.h"

namespace lope {
namespace {

using A = TrainingArguments;

// auto, cpu, cuda, or cuda: and an index.
bool is_device(std::string_view text) {
  constexpr std::string_view kIndexed = "cuda:";
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  if (!text.starts_with(kIndexed) || text.size() == kIndexed.size()) return false;
  text.remove_prefix(kIndexed.size());
  return text.size() <= 3 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

constexpr std::array kRun{
    Field{"output_dir", &A::output_dir, "Folder for the model, checkpoints and logs."},
    Field{"seed", &A::seed, "Seed of everything random in the run.", at_least(0)},
    Field{"data_seed", &A::data_seed, "Seed of the order of the examples; seed when not set.", at_least(0)},
    Field{"full_determinism", &A::full_determinism,
          "Use only algorithms that give the same bits in every run; slower."},
    Field{"use_cpu", &A::use_cpu, "Train on the CPU even where a GPU is present."},
    Field{"device", &A::device, "Where to train; auto takes a GPU where there is one.",
          Allowed{.accepts = is_device, .text = "auto, cpu, cuda or cuda:INDEX"}, Origin::kLope},
    Field{"disable_tqdm", &A::disable_tqdm, "Show no progress bar; when not set, it is shown on a terminal."},
};

constexpr std::array kSteps{
    Field{"per_device_train_batch_size", &A::per_device_train_batch_size,
          "Examples in one micro-batch of training on one device.", at_least(1)},
    Field{"per_device_eval_batch_size", &A::per_device_eval_batch_size,
          "Examples in one batch of evaluation on one device.", at_least(1)},
    Field{"gradient_accumulation_steps", &A::gradient_accumulation_steps,
          "Micro-batches whose gradients make one update.", at_least(1)},
    Field{"num_train_epochs", &A::num_train_epochs, "Passes over the training data; may be a fraction.", at_least(0)},
    Field{"max_steps", &A::max_steps, "Updates in all; when above 0 it is used in place of num_train_epochs.",
          at_least(-1)},
    Field{"label_smoothing_factor", &A::label_smoothing_factor,
          "Part of each target's weight that is spread over all classes.", from_zero_below_one()},
};

constexpr std::array kOptimizer{
    Field{"optim", &A::optim, "Optimizer.", one_of(kOptimizerNames)},
    Field{"optim_args", &A::optim_args, "Further arguments of the optimizer: name=value,name=value."},
    Field{"learning_rate", &A::learning_rate, "Highest learning rate, before the schedule.", at_least(0)},
    Field{"weight_decay", &A::weight_decay, "Decay of the weights; biases and normalisation layers are spared.",
          at_least(0)},
    Field{"adam_beta1", &A::adam_beta1, "Decay of Adam's first moment.", from_zero_below_one()},
    Field{"adam_beta2", &A::adam_beta2, "Decay of Adam's second moment.", from_zero_below_one()},
    Field{"adam_epsilon", &A::adam_epsilon, "Added to Adam's denominator.", above(0)},
    Field{"max_grad_norm", &A::max_grad_norm, "Scale all gradients down to this norm; 0 turns it off.", at_least(0)},
    Field{"max_grad_value", &A::max_grad_value,
          "Cut gradient elements to this size, before the norm is clipped; 0 turns it off.", at_least(0),
          Origin::kLope},
    Field{"max_nonfinite_updates", &A::max_nonfinite_updates,
          "Stop with an error after so many updates in a row that are not finite; 0 never stops.", at_least(0),
          Origin::kLope},
};

constexpr std::array kSchedule{
    Field{"lr_scheduler_type", &A::lr_scheduler_type, "How the learning rate changes.", one_of(kSchedulerNames)},
    Field{"lr_scheduler_kwargs", &A::lr_scheduler_kwargs, "Further arguments of the schedule."},
    Field{"warmup_steps", &A::warmup_steps,
          "Updates in which the rate rises from 0; below 1 it is a part of all updates.", warmup()},
};

constexpr std::array kPrecision{
    Field{"fp16", &A::fp16, "Compute in half precision with a scaled loss."},
    Field{"bf16", &A::bf16, "Compute in bfloat16."},
    Field{"tf32", &A::tf32, "Let float32 products use TF32 on a GPU; PyTorch's setting is kept when not set."},
    Field{"fp16_init_scale", &A::fp16_init_scale, "Loss scale at the start of fp16 training.", above(0), Origin::kLope},
    Field{"fp16_scale_growth_interval", &A::fp16_scale_growth_interval,
          "Finite updates in a row after which the loss scale doubles.", at_least(1), Origin::kLope},
};

constexpr std::array kLogging{
    Field{"logging_strategy", &A::logging_strategy, "When to log.", one_of(kIntervalNames)},
    Field{"logging_steps", &A::logging_steps, "Updates between logs; below 1 it is a part of all updates.", steps()},
    Field{"logging_first_step", &A::logging_first_step, "Log the first update too."},
};

constexpr std::array kEvaluation{
    Field{"eval_strategy", &A::eval_strategy, "When to evaluate.", one_of(kIntervalNames)},
    Field{"eval_steps", &A::eval_steps,
          "Updates between evaluations; below 1 it is a part of all updates; logging_steps when not set.", steps()},
    Field{"eval_on_start", &A::eval_on_start, "Evaluate before the first update."},
};

constexpr std::array kSaving{
    Field{"save_strategy", &A::save_strategy, "When to save a checkpoint.", one_of(kSaveStrategyNames)},
    Field{"save_steps", &A::save_steps, "Updates between checkpoints; below 1 it is a part of all updates.", steps()},
    Field{"save_total_limit", &A::save_total_limit, "Checkpoints to keep; the best is always kept.", at_least(1)},
    Field{"save_only_model", &A::save_only_model, "Save the weights only; such a checkpoint cannot be resumed."},
    Field{"save_in_background",
          &A::save_in_background,
          "Copy the state and write it in a thread while training goes on.",
          {},
          Origin::kLope},
    Field{"save_on_error", &A::save_on_error,
          "What a checkpoint that cannot be written does to training: stop it, or continue with a message.",
          one_of(kSaveErrorNames), Origin::kLope},
    Field{"load_best_model_at_end", &A::load_best_model_at_end, "Load the best checkpoint when training ends."},
    Field{"metric_for_best_model", &A::metric_for_best_model, "Metric that decides what is best; loss when not set."},
    Field{"greater_is_better", &A::greater_is_better,
          "Whether more is better; when not set, true unless the metric's name ends in loss."},
    Field{"resume_from_checkpoint", &A::resume_from_checkpoint,
          "Folder of a checkpoint to go on from, or true for the newest in output_dir."},
};

constexpr std::array kData{
    Field{"train_sampling_strategy", &A::train_sampling_strategy, "Order of the training examples.",
          one_of(kSamplingNames)},
    Field{"dataloader_drop_last", &A::dataloader_drop_last, "Leave out a last batch that is not full."},
    Field{"dataloader_num_workers", &A::dataloader_num_workers,
          "Threads that load data; 0 loads in the training thread.", at_least(0)},
    Field{"dataloader_prefetch_factor", &A::dataloader_prefetch_factor, "Batches that each worker loads ahead.",
          at_least(1)},
    Field{"dataloader_pin_memory", &A::dataloader_pin_memory, "Copy batches to a GPU from pinned memory."},
    Field{"dataloader_persistent_workers", &A::dataloader_persistent_workers, "Keep the workers between epochs."},
};

constexpr std::array kGroups{
    FieldGroup{"Run", kRun},
    FieldGroup{"Steps", kSteps},
    FieldGroup{"Optimizer", kOptimizer},
    FieldGroup{"Schedule", kSchedule},
    FieldGroup{"Precision", kPrecision},
    FieldGroup{"Logging", kLogging},
    FieldGroup{"Evaluation", kEvaluation},
    FieldGroup{"Saving", kSaving},
    FieldGroup{"Data", kData},
};

}  // namespace

std::span<const FieldGroup> training_arguments_groups() { return kGroups; }

}  // namespace lope
