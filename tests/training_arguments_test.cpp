#include <gtest/gtest.h>
#include <lope/training_arguments.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "support/error_of.h"
#include "support/python_defaults.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;

std::string json_error(std::string_view text) {
  return error_of([&] { TrainingArguments::from_json(text); });
}

std::string validation_error(const TrainingArguments& arguments) {
  return error_of([&] { arguments.validate(); });
}

// The Python class's default JSON with some fields changed.
std::string python_json(const nlohmann::json& changes) {
  nlohmann::json json = nlohmann::json::parse(testing::kPythonDefaults);
  json.update(changes);
  return json.dump();
}

TEST(TrainingArguments, DefaultsAreThoseOfThePythonClass) {
  const auto python = nlohmann::json::parse(testing::kPythonDefaults);
  const auto ours = nlohmann::json::parse(TrainingArguments{}.to_json());
  EXPECT_EQ(ours.size(), 46u);
  for (const auto& [name, value] : ours.items()) {
    if (name == "disable_tqdm") continue;  // Python decides it while reading
    ASSERT_TRUE(python.contains(name)) << name;
    EXPECT_EQ(value, python[name]) << name;
    EXPECT_EQ(value.dump(), python[name].dump()) << name;
  }
}

TEST(TrainingArguments, DefaultsAreWhatTheirUsersExpect) {
  const TrainingArguments arguments;
  EXPECT_EQ(arguments.output_dir, "trainer_output");
  EXPECT_EQ(arguments.per_device_train_batch_size, 8);
  EXPECT_EQ(arguments.gradient_accumulation_steps, 1);
  EXPECT_EQ(arguments.learning_rate, 5e-5);
  EXPECT_EQ(arguments.optim, "adamw_torch_fused");
  EXPECT_EQ(arguments.max_grad_norm, 1.0);
  EXPECT_EQ(arguments.max_grad_value, 0.0);
  EXPECT_EQ(arguments.max_nonfinite_updates, 20);
  EXPECT_EQ(arguments.num_train_epochs, 3.0);
  EXPECT_EQ(arguments.device, "auto");
  EXPECT_EQ(arguments.fp16_init_scale, 65536.0);
  EXPECT_EQ(arguments.fp16_scale_growth_interval, 2000);
}

TEST(TrainingArguments, DesignatedInitialisersLeaveTheOthersAtTheirDefaults) {
  const TrainingArguments arguments{
      .output_dir = "run", .learning_rate = 3e-4, .lr_scheduler_kwargs = {{"num_cycles", 2.0}}, .bf16 = true};
  EXPECT_EQ(arguments.output_dir, "run");
  EXPECT_EQ(arguments.learning_rate, 3e-4);
  EXPECT_EQ(std::get<double>(arguments.lr_scheduler_kwargs.at("num_cycles")), 2.0);
  EXPECT_TRUE(arguments.bf16);
  EXPECT_EQ(arguments.seed, 42);
  EXPECT_EQ(validation_error(arguments), "no error");
}

TEST(TrainingArguments, WhatIsNotSetFollowsFromOtherFields) {
  TrainingArguments arguments{.seed = 7, .logging_steps = 25};
  EXPECT_EQ(arguments.eval_interval(), 25);
  EXPECT_EQ(arguments.order_seed(), 7);
  EXPECT_EQ(arguments.best_metric(), "loss");
  EXPECT_FALSE(arguments.best_is_greater());
  arguments.eval_steps = 0.1;
  arguments.data_seed = 8;
  arguments.metric_for_best_model = "accuracy";
  EXPECT_EQ(arguments.eval_interval(), 0.1);
  EXPECT_EQ(arguments.order_seed(), 8);
  EXPECT_EQ(arguments.best_metric(), "accuracy");
  EXPECT_TRUE(arguments.best_is_greater());
  arguments.greater_is_better = false;
  EXPECT_FALSE(arguments.best_is_greater());
}

TEST(TrainingArguments, TellsOfANameWithALineBreakInOneLine) {
  EXPECT_EQ(error_of([] { TrainingArguments::from_json(R"({"lear\ning_rate": 1})"); }),
            "lear?ing_rate: unknown argument; did you mean learning_rate?");
}

TEST(TrainingArguments, RefusesDeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(error_of([&] { TrainingArguments::from_json(R"({"fsdp": )" + deep); }),
            "not valid JSON: it is nested deeper than a hundred levels");
}

TEST(TrainingArguments, DescribesEveryField) {
  const auto descriptions = TrainingArguments::describe();
  const auto shared = nlohmann::json::parse(TrainingArguments{}.to_json());
  std::size_t found = 0;
  for (const ArgumentDescription& argument : descriptions) {
    found += shared.count(argument.name);
    EXPECT_FALSE(argument.help.empty()) << argument.name;
    EXPECT_FALSE(argument.allowed.empty()) << argument.name;
  }
  EXPECT_EQ(found, shared.size());
  EXPECT_EQ(descriptions.size(), shared.size() + 7);  // Lope's own are written only where they are not the default
  EXPECT_EQ(descriptions.front().name, "output_dir");
  EXPECT_EQ(descriptions.front().group, "Run");
  EXPECT_EQ(descriptions.front().default_value, "\"trainer_output\"");
}

// A value that is not the default, for every kind of field.
TrainingArguments unusual() {
  return {.output_dir = "a \"quoted\" folder",
          .data_seed = 9007199254740993,
          .device = "cuda:1",
          .disable_tqdm = true,
          .num_train_epochs = 0.1,
          .optim_args = "momentum=0.9",
          .learning_rate = 1.0 / 3.0,
          .max_grad_value = 0.5,
          .max_nonfinite_updates = 0,
          .lr_scheduler_kwargs = {{"num_cycles", 2.0}, {"decay_type", "cosine"}, {"flag", true}},
          .warmup_steps = 0.07,
          .tf32 = false,
          .fp16_init_scale = 0.5,
          .fp16_scale_growth_interval = 2,
          .logging_steps = 0.05,
          .eval_steps = 20.0,
          .save_total_limit = 3,
          .greater_is_better = true};
}

TEST(TrainingArguments, JsonGivesBackTheSameArguments) {
  EXPECT_EQ(TrainingArguments::from_json(TrainingArguments{}.to_json()), TrainingArguments{});
  EXPECT_EQ(TrainingArguments::from_json(unusual().to_json()), unusual());
}

TEST(TrainingArguments, CountsOfUpdatesAreWrittenAsWholeNumbers) {
  const auto json = nlohmann::json::parse(unusual().to_json());
  EXPECT_EQ(json["eval_steps"].dump(), "20");
  EXPECT_EQ(json["logging_steps"].dump(), "0.05");
  EXPECT_EQ(json["save_steps"].dump(), "500");
}

TEST(TrainingArguments, OwnFieldsAreWrittenOnlyWhereTheyDiffer) {
  EXPECT_EQ(TrainingArguments{}.to_json().find("max_grad_value"), std::string::npos);
  EXPECT_NE(unusual().to_json().find("\"max_grad_value\": 0.5"), std::string::npos);
}

TEST(TrainingArguments, ReadsWhatThePythonClassWrites) {
  TrainingArguments expected;
  expected.disable_tqdm = false;
  EXPECT_EQ(TrainingArguments::from_json(testing::kPythonDefaults), expected);
}

TEST(TrainingArguments, ReadsAPythonRunWithEvaluation) {
  const auto arguments = TrainingArguments::from_json(python_json({{"eval_strategy", "steps"},
                                                                   {"do_eval", true},
                                                                   {"logging_steps", 25},
                                                                   {"eval_steps", 25},
                                                                   {"lr_scheduler_type", "cosine_with_min_lr"},
                                                                   {"lr_scheduler_kwargs", {{"min_lr", 1e-5}}},
                                                                   {"warmup_steps", 0.1}}));
  EXPECT_EQ(arguments.eval_strategy, "steps");
  EXPECT_EQ(arguments.eval_interval(), 25);
  EXPECT_EQ(arguments.lr_scheduler_kwargs, (ArgumentMap{{"min_lr", 1e-5}}));
  EXPECT_EQ(arguments.warmup_steps, 0.1);
}

TEST(TrainingArguments, RefusesWhatOnlyThePythonTrainerDoes) {
  EXPECT_EQ(json_error(python_json({{"torch_compile", true}})),
            "torch_compile is true: this argument of the Python Trainer is not supported, only its default false is "
            "accepted; remove it");
  EXPECT_EQ(json_error(python_json({{"neftune_noise_alpha", 5.0}})),
            "neftune_noise_alpha is 5.0: this argument of the Python Trainer is not supported, only its default null "
            "is accepted; remove it");
  EXPECT_EQ(json_error(python_json({{"report_to", {"wandb"}}})),
            "report_to is [\"wandb\"]: this argument of the Python Trainer is not supported, only its default "
            "\"none\" is accepted; remove it");
  EXPECT_EQ(json_error(python_json({{"torch_compile", nullptr}})), "no error");
}

TEST(TrainingArguments, NamesTheNearestFieldOfAnUnknownOne) {
  EXPECT_EQ(json_error(R"({"learning_rat": 1})"), "learning_rat: unknown argument; did you mean learning_rate?");
  EXPECT_EQ(json_error(R"({"batch_size": 1})"),
            "batch_size: unknown argument; did you mean per_device_train_batch_size?");
  EXPECT_EQ(json_error(R"({"zzz": 1})"), "zzz: unknown argument");
  EXPECT_EQ(json_error(R"({"warmup_ratio": 0.1})"),
            "warmup_ratio: unknown argument; use warmup_steps with a value below 1");
}

TEST(TrainingArguments, AWrongTypeSaysWhatWasGivenAndWhatIsAllowed) {
  EXPECT_EQ(json_error(R"({"learning_rate": "5e-5"})"),
            "learning_rate is \"5e-5\": it must be a number of 0 or more (default 5e-05)");
  EXPECT_EQ(json_error(R"({"learning_rate": null})"),
            "learning_rate is null: it must be a number of 0 or more (default 5e-05)");
  EXPECT_EQ(json_error(R"({"max_steps": 1.5})"),
            "max_steps is 1.5: it must be a whole number of -1 or more (default -1)");
  EXPECT_EQ(json_error(R"({"seed": 18446744073709551615})"),
            "seed is 18446744073709551615: it must be a whole number of 0 or more (default 42)");
  EXPECT_EQ(json_error(R"({"bf16": 1})"), "bf16 is 1: it must be true or false (default false)");
  EXPECT_EQ(json_error(R"({"tf32": "yes"})"), "tf32 is \"yes\": it must be true or false (default not set)");
  EXPECT_EQ(json_error(R"({"output_dir": 3})"), "output_dir is 3: it must be a text (default \"trainer_output\")");
  EXPECT_EQ(json_error(R"({"lr_scheduler_kwargs": {"a": [1]}})"),
            "lr_scheduler_kwargs is {\"a\":[1]}: it must be a JSON object of numbers, texts and true or false, or "
            "name=value,name=value (default not set)");
}

TEST(TrainingArguments, AWholeNumberMayBeWrittenWithAFraction) {
  EXPECT_EQ(TrainingArguments::from_json(R"({"max_steps": 1e3})").max_steps, 1000);
}

TEST(TrainingArguments, ScheduleArgumentsMayBeTextAndLeaveOutNull) {
  const ArgumentMap expected{{"num_cycles", 2.0}};
  EXPECT_EQ(TrainingArguments::from_json(R"({"lr_scheduler_kwargs": "{\"num_cycles\": 2}"})").lr_scheduler_kwargs,
            expected);
  EXPECT_EQ(
      TrainingArguments::from_json(R"({"lr_scheduler_kwargs": {"num_cycles": 2, "a": null}})").lr_scheduler_kwargs,
      expected);
}

TEST(TrainingArguments, WhatIsNoJsonObjectIsRefused) {
  EXPECT_EQ(json_error("[1]"), "training arguments must be a JSON object such as {\"learning_rate\": 5e-5}");
  const std::string damaged = json_error("{\"seed\": 1,\n}");
  EXPECT_TRUE(damaged.starts_with("not valid JSON: parse error at line 2, column 1")) << damaged;
  EXPECT_EQ(damaged.find('\n'), std::string::npos);
}

TEST(TrainingArguments, AWrongFieldChangesNothing) {
  TrainingArguments arguments;
  EXPECT_NE(error_of([&] { arguments.merge_json(R"({"seed": 1, "learning_rat": 1})"); }), "no error");
  EXPECT_EQ(arguments, TrainingArguments{});
}

TEST(TrainingArguments, FilesAreReadAndNamedInErrors) {
  const testing::TemporaryFolder folder;
  testing::write_text(folder / "a.json", R"({"seed": 5})");
  testing::write_text(folder / "b.json", R"({"sed": 5})");
  EXPECT_EQ(TrainingArguments::from_json_file(folder / "a.json").seed, 5);
  EXPECT_EQ(error_of([&] { TrainingArguments::from_json_file(folder / "b.json"); }),
            (folder / "b.json") + ": sed: unknown argument; did you mean seed?");
  EXPECT_EQ(error_of([&] { TrainingArguments::from_json_file(folder / "none.json"); }),
            (folder / "none.json") + ": cannot be read; check that it is there and is a file");
  EXPECT_EQ(error_of([&] { TrainingArguments::from_json_file(folder.path()); }),
            folder.path().string() + ": cannot be read; check that it is there and is a file");
}

}  // namespace
}  // namespace lope
