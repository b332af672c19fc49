#include <gtest/gtest.h>
#include <lope/callback.h>
#include <lope/trainer_state.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::TemporaryFolder;
using testing::write_text;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Written by transformers 5.24.0's TrainerState(...).save_to_json.
constexpr const char* kPythonText = R"({
  "best_global_step": 3,
  "best_metric": 100000.0,
  "best_model_checkpoint": null,
  "epoch": 1.5,
  "eval_steps": 3,
  "global_step": 3,
  "is_hyper_param_search": false,
  "is_local_process_zero": true,
  "is_world_process_zero": true,
  "log_history": [
    {
      "epoch": 0.5,
      "grad_norm": NaN,
      "learning_rate": 5e-05,
      "loss": 4.5,
      "step": 1
    },
    {
      "epoch": 1.5,
      "eval_loss": 100000.0,
      "step": 3
    }
  ],
  "logging_steps": 1,
  "max_steps": 6,
  "num_input_tokens_seen": 96,
  "num_train_epochs": 3,
  "save_steps": 500,
  "stateful_callbacks": {},
  "total_flos": 0.0,
  "train_batch_size": 4,
  "trial_name": null,
  "trial_params": null
}
)";

TrainerState example() {
  TrainerState state;
  state.epoch = 1.5;
  state.global_step = 3;
  state.max_steps = 6;
  state.num_train_epochs = 3;
  state.logging_steps = 1;
  state.eval_steps = 3;
  state.train_batch_size = 4;
  state.num_input_tokens_seen = 96;
  state.log_history = {{{{"loss", 4.5}, {"grad_norm", kNan}, {"learning_rate", 5e-5}}, 0.5, 1},
                       {{{"eval_loss", 100000}}, 1.5, 3}};
  state.best_metric = 100000;
  state.best_global_step = 3;
  return state;
}

TEST(TrainerState, IsWrittenAsPythonWritesIt) { EXPECT_EQ(example().to_json(), kPythonText); }

TEST(TrainerState, ReadsWhatPythonWrote) {
  const TrainerState state = TrainerState::from_json(kPythonText);
  EXPECT_EQ(state.epoch, 1.5);
  EXPECT_EQ(state.global_step, 3);
  EXPECT_EQ(state.train_batch_size, 4);
  EXPECT_EQ(state.best_metric, 100000);
  EXPECT_EQ(state.best_global_step, 3);
  EXPECT_EQ(state.best_model_checkpoint, std::nullopt);
  ASSERT_EQ(state.log_history.size(), 2);
  EXPECT_EQ(state.log_history[0].step, 1);
  EXPECT_EQ(state.log_history[0].epoch, 0.5);
  EXPECT_EQ(state.log_history[0].find("learning_rate"), 5e-5);
  EXPECT_TRUE(std::isnan(state.log_history[0].find("grad_norm").value()));
  EXPECT_EQ(state.log_history[1].find("eval_loss"), 100000);
}

TEST(TrainerState, KeepsTheOrderInWhichValuesAreLogged) {
  const TrainerState state = TrainerState::from_json(kPythonText);
  ASSERT_EQ(state.log_history[0].values.size(), 3);
  EXPECT_EQ(state.log_history[0].values[0].first, "loss");
  EXPECT_EQ(state.log_history[0].values[1].first, "grad_norm");
  EXPECT_EQ(state.log_history[0].values[2].first, "learning_rate");
}

TEST(TrainerState, IsTheSameAfterWritingAndReading) {
  TrainerState state = example();
  state.epoch = 1.0 / 3;
  state.total_flos = 1e17;
  state.best_metric = std::nullopt;
  state.best_model_checkpoint = "out/checkpoint-3 \"ä\"";
  state.log_history[0].values[1].second = -std::numeric_limits<double>::infinity();
  state.log_history[1].values[0].second = 0.1 + 0.2;
  state.stateful_callbacks = {{"Mine", R"({"a": [1, 2.5, NaN], "b": {}})"}};
  const TrainerState again = TrainerState::from_json(state.to_json());
  EXPECT_EQ(again.to_json(), state.to_json());
  EXPECT_EQ(again.epoch, 1.0 / 3);
  EXPECT_EQ(again.best_metric, std::nullopt);
  EXPECT_EQ(again.best_model_checkpoint, state.best_model_checkpoint);
  EXPECT_EQ(again.log_history[0].find("grad_norm"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(again.log_history[1].find("eval_loss"), 0.1 + 0.2);
  EXPECT_EQ(again.stateful_callbacks.at("Mine"), "{\n  \"a\": [\n    1,\n    2.5,\n    NaN\n  ],\n  \"b\": {}\n}");
}

TEST(TrainerState, NumbersLookAsInPython) {
  TrainerState state;
  const std::vector<std::pair<double, std::string>> rows{
      {0, "0.0"},       {-0.0, "-0.0"},       {1, "1.0"},          {0.1, "0.1"},
      {1e-4, "0.0001"}, {1e-5, "1e-05"},      {2.5e-7, "2.5e-07"}, {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},  {123.456, "123.456"}, {-3e-5, "-3e-05"}};
  for (const auto& [value, text] : rows) {
    state.epoch = value;
    EXPECT_NE(state.to_json().find("\"epoch\": " + text + ","), std::string::npos) << text;
  }
}

TEST(TrainerState, LeavesOutWhatItHasNoPlaceFor) {
  const TrainerState state = TrainerState::from_json(
      R"({"global_step": 1, "log_history": [{"loss": 2, "note": "NaN is a word here", "none": null, "step": 1}], "new": [1]})");
  ASSERT_EQ(state.log_history[0].values.size(), 1);
  EXPECT_EQ(state.log_history[0].find("loss"), 2);
}

TEST(TrainerState, NamesWhatIsWrongInAFile) {
  const auto error = [](const char* text) { return error_of([&] { TrainerState::from_json(text); }); };
  EXPECT_EQ(error("{}"), "global_step is missing: it is not a whole trainer_state.json");
  EXPECT_EQ(error(R"({"global_step": 3})"), "log_history is missing: it is not a whole trainer_state.json");
  EXPECT_EQ(error(R"({"global_step": "3"})"), "global_step is \"3\": it must be a whole number");
  EXPECT_EQ(error(R"({"global_step": 2.5})"), "global_step is 2.5: it must be a whole number");
  EXPECT_EQ(error(R"({"global_step": 3, "best_metric": []})"), "best_metric is []: it must be a number or null");
  EXPECT_EQ(error(R"({"global_step": 3, "log_history": {}})"), "log_history is {}: it must be an array");
  EXPECT_EQ(error(R"({"global_step": 3, "log_history": [7]})"), "an entry of log_history is 7: it must be an object");
  EXPECT_EQ(error(R"({"global_step": 3, "log_history": [{"step": null}]})"), "step is null: it must be a whole number");
  EXPECT_EQ(error(R"({"global_step": 3, "log_history": [], "stateful_callbacks": 1})"),
            "stateful_callbacks is 1: it must be an object");
  EXPECT_EQ(error("[]"), "the state is []: it must be an object");
}

TEST(TrainerState, SurvivesEveryCutAndEveryChangedByte) {
  const std::string text = kPythonText;
  for (std::size_t i = 0; i + 3 < text.size(); ++i) {
    const std::string message = error_of([&] { TrainerState::from_json(text.substr(0, i)); });
    EXPECT_NE(message, "no error") << i;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const char byte : {'\0', '"', '{', '9', '\xff'}) {
      std::string changed = text;
      changed[i] = byte;
      EXPECT_EQ(error_of([&] { TrainerState::from_json(changed); }).find('\n'), std::string::npos);
    }
  }
}

TEST(TrainerState, RefusesBottomlessNesting) {
  EXPECT_EQ(error_of([] { TrainerState::from_json(std::string(1'000'000, '[')); }),
            "not valid JSON: it is nested deeper than a hundred levels");
}

TEST(TrainerState, ErrorsOfAFileNameIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "trainer_state.json";
  EXPECT_EQ(error_of([&] { TrainerState::load(path); }),
            "cannot read " + path + ": it must be a trainer_state.json; check the path");
  EXPECT_EQ(error_of([&] { TrainerState::load(folder.path()); }),
            "cannot read " + folder.path().string() + ": it must be a trainer_state.json; check the path");
  write_text(path, "{}");
  EXPECT_EQ(error_of([&] { TrainerState::load(path); }),
            path + ": global_step is missing: it is not a whole trainer_state.json");
}

TEST(TrainerState, IsSavedAndLoaded) {
  const TemporaryFolder folder;
  example().save(folder / "state.json");
  EXPECT_EQ(TrainerState::load(folder / "state.json").to_json(), kPythonText);
}

TEST(TrainerState, ComesFromTheContextOfARun) {
  const TrainingArguments arguments{.per_device_train_batch_size = 4};
  const Plan made = plan({.batches_per_epoch = 2, .max_steps = 6, .logging_steps = 1, .eval_steps = 3});
  const Progress progress{.epoch = 1, .step = 3, .micro_step = 1, .samples = 12, .tokens = 96};
  const std::vector<LogEntry> log_history = example().log_history;
  const std::optional<BestMetric> best = BestMetric{100000, 3};
  const std::filesystem::path best_model_checkpoint;
  EXPECT_EQ(TrainerState::of({arguments, made, progress, 1.5, log_history, best, best_model_checkpoint}).to_json(),
            kPythonText);
}

}  // namespace
}  // namespace lope
