#include <gtest/gtest.h>
#include <lope/training_arguments.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string validation_error(const TrainingArguments& arguments) {
  return testing::error_of([&] { arguments.validate(); });
}

struct Refused {
  TrainingArguments arguments;
  std::string message;
};

TEST(TrainingArguments, ValuesOutOfRangeAreRefusedByName) {
  const std::string one_or_more = ": it must be a whole number of 1 or more (default ";
  const std::string zero_or_more = ": it must be a number of 0 or more (default ";
  const std::string fraction = ": it must be a number from 0 to below 1 (default ";
  const std::string updates =
      ": it must be a whole number of updates, or a part of all updates above 0 and below 1 (default ";
  const std::vector<Refused> cases{
      {{.output_dir = "", .seed = -1}, "seed is -1: it must be a whole number of 0 or more (default 42)"},
      {{.per_device_train_batch_size = 0}, "per_device_train_batch_size is 0" + one_or_more + "8)"},
      {{.per_device_eval_batch_size = -2}, "per_device_eval_batch_size is -2" + one_or_more + "8)"},
      {{.gradient_accumulation_steps = 0}, "gradient_accumulation_steps is 0" + one_or_more + "1)"},
      {{.max_steps = -2}, "max_steps is -2: it must be a whole number of -1 or more (default -1)"},
      {{.label_smoothing_factor = 1}, "label_smoothing_factor is 1" + fraction + "0)"},
      {{.learning_rate = -1}, "learning_rate is -1" + zero_or_more + "5e-05)"},
      {{.learning_rate = kNan}, "learning_rate is nan" + zero_or_more + "5e-05)"},
      {{.weight_decay = -0.1}, "weight_decay is -0.1" + zero_or_more + "0)"},
      {{.adam_beta1 = 1}, "adam_beta1 is 1" + fraction + "0.9)"},
      {{.adam_beta2 = -0.5}, "adam_beta2 is -0.5" + fraction + "0.999)"},
      {{.adam_epsilon = 0}, "adam_epsilon is 0: it must be a number above 0 (default 1e-08)"},
      {{.max_grad_norm = -1}, "max_grad_norm is -1" + zero_or_more + "1)"},
      {{.max_grad_norm = std::numeric_limits<double>::infinity()}, "max_grad_norm is inf" + zero_or_more + "1)"},
      {{.max_grad_value = -1}, "max_grad_value is -1" + zero_or_more + "0)"},
      {{.warmup_steps = -1}, "warmup_steps is -1" + zero_or_more + "0)"},
      {{.logging_steps = 0}, "logging_steps is 0" + updates + "500)"},
      {{.logging_steps = 2.5}, "logging_steps is 2.5" + updates + "500)"},
      {{.eval_steps = -1}, "eval_steps is -1" + updates + "not set)"},
      {{.save_steps = 0}, "save_steps is 0" + updates + "500)"},
      {{.save_total_limit = 0}, "save_total_limit is 0" + one_or_more + "not set)"},
      {{.num_train_epochs = 0}, "num_train_epochs is 0: it must be above 0, or set max_steps above 0"},
      {{.device = "gpu"}, "device is \"gpu\": it must be auto, cpu, cuda or cuda:INDEX (default \"auto\")"},
      {{.device = "cuda:x"}, "device is \"cuda:x\": it must be auto, cpu, cuda or cuda:INDEX (default \"auto\")"},
      {{.device = "cuda:"}, "device is \"cuda:\": it must be auto, cpu, cuda or cuda:INDEX (default \"auto\")"},
  };
  for (const Refused& refused : cases) EXPECT_EQ(validation_error(refused.arguments), refused.message);
}

TEST(TrainingArguments, UnknownNamesAreRefusedWithTheListAndTheNearest) {
  EXPECT_EQ(validation_error({.optim = "adamw"}),
            "optim is \"adamw\": it must be one of adamw_torch, adamw_torch_fused, adam, sgd, adagrad, rmsprop "
            "(default \"adamw_torch_fused\"); did you mean adam?");
  EXPECT_EQ(validation_error({.eval_strategy = "step"}),
            "eval_strategy is \"step\": it must be one of no, steps, epoch (default \"no\"); did you mean steps?");
  EXPECT_EQ(validation_error({.train_sampling_strategy = "zzzz"}),
            "train_sampling_strategy is \"zzzz\": it must be one of random, sequential, group_by_length (default "
            "\"random\")");
  EXPECT_TRUE(validation_error({.lr_scheduler_type = "cosin"}).ends_with("; did you mean cosine?"));
  EXPECT_TRUE(validation_error({.save_strategy = "bset"}).ends_with("; did you mean best?"));
}

TEST(TrainingArguments, FieldsThatContradictEachOtherAreRefused) {
  const std::string evaluate = " and eval_strategy is \"no\": set eval_strategy to \"steps\" or \"epoch\"";
  const std::string workers = " and dataloader_num_workers is 0: set dataloader_num_workers above 0";
  const std::vector<Refused> cases{
      {{.fp16 = true, .bf16 = true}, "fp16 and bf16 are both true: set at most one of them"},
      {{.use_cpu = true, .device = "cuda"},
       "use_cpu is true and device is \"cuda\": set use_cpu to false or device to \"cpu\""},
      {{.save_strategy = "best"}, "save_strategy is \"best\"" + evaluate},
      {{.load_best_model_at_end = true}, "load_best_model_at_end is true" + evaluate},
      {{.lr_scheduler_type = "reduce_lr_on_plateau"}, "lr_scheduler_type is \"reduce_lr_on_plateau\"" + evaluate},
      {{.eval_strategy = "epoch", .load_best_model_at_end = true},
       "load_best_model_at_end is true, eval_strategy is \"epoch\" and save_strategy is \"steps\": set save_strategy "
       "to \"epoch\" or \"best\""},
      {{.eval_strategy = "steps", .eval_steps = 200, .load_best_model_at_end = true},
       "load_best_model_at_end is true, save_steps is 500 and eval_steps is 200: save_steps must be a multiple of "
       "eval_steps"},
      {{.eval_strategy = "steps", .eval_steps = 0.1, .load_best_model_at_end = true},
       "load_best_model_at_end is true, save_steps is 500 and eval_steps is 0.1: save_steps must be a multiple of "
       "eval_steps"},
      {{.eval_strategy = "steps", .eval_steps = 1e8, .save_steps = 1, .load_best_model_at_end = true},
       "load_best_model_at_end is true, save_steps is 1 and eval_steps is 1e+08: save_steps must be a multiple of "
       "eval_steps"},
      {{.dataloader_prefetch_factor = 2}, "dataloader_prefetch_factor is set" + workers},
      {{.dataloader_persistent_workers = true}, "dataloader_persistent_workers is true" + workers},
  };
  for (const Refused& refused : cases) EXPECT_EQ(validation_error(refused.arguments), refused.message);
}

TEST(TrainingArguments, WhatIsAtTheEdgeIsAllowed) {
  const std::vector<TrainingArguments> cases{
      {},
      {.seed = 0},
      {.device = "cuda:1"},
      {.use_cpu = true, .device = "cpu"},
      {.num_train_epochs = 0, .max_steps = 1},
      {.label_smoothing_factor = 0.999},
      {.learning_rate = 0},
      {.adam_beta1 = 0},
      {.max_grad_norm = 0},
      {.max_nonfinite_updates = 0},
      {.warmup_steps = 2.5},
      {.logging_steps = 1},
      {.logging_steps = 0.001},
      {.eval_strategy = "steps", .eval_steps = 250, .load_best_model_at_end = true},
      {.eval_strategy = "steps", .eval_steps = 0.1, .save_steps = 0.3, .load_best_model_at_end = true},
      {.eval_strategy = "steps", .save_strategy = "best", .load_best_model_at_end = true},
      {.eval_strategy = "epoch", .save_strategy = "epoch", .load_best_model_at_end = true},
      {.dataloader_num_workers = 1, .dataloader_prefetch_factor = 1, .dataloader_persistent_workers = true},
  };
  for (const TrainingArguments& arguments : cases) EXPECT_EQ(validation_error(arguments), "no error");
}

}  // namespace
}  // namespace lope
