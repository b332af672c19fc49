#include <gmock/gmock.h>

#include <filesystem>

#include "lope/checkpoint_folder.h"
#include "lope/checkpoints.h"
#include "lope/trainer_state.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/toy_trainer.h"

namespace lope::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<int64_t> saved_steps(const std::filesystem::path& output_dir) {
  std::vector<int64_t> steps;
  for (const auto& entry : list_checkpoints(output_dir)) steps.push_back(entry.step);
  return steps;
}

/// Two micro-batches an epoch, saving every `save_steps`.
TrainingArguments saving_arguments(const std::string& output_dir, int64_t max_steps, double save_steps) {
  auto arguments = toy_arguments();
  arguments.output_dir = output_dir;
  arguments.max_steps = max_steps;
  arguments.save_strategy = "steps";
  arguments.save_steps = save_steps;
  return arguments;
}

/// Evaluations give these metrics, one after the other, as "eval_score".
TrainerOptions scores(const Dataset& data, std::vector<double> values) {
  TrainerOptions options{.train_dataset = &data, .eval_dataset = &data, .label_names = {"y"}};
  options.forward = [](const Batch& batch) { return batch["y"]; };
  options.compute_metrics = [values = std::move(values), next = size_t{0}](const EvalPrediction&) mutable {
    return Metrics{{"score", values.at(next++)}};
  };
  return options;
}

TrainingArguments scored_arguments(const std::string& output_dir, int64_t max_steps) {
  auto arguments = saving_arguments(output_dir, max_steps, 1);
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 1;
  arguments.metric_for_best_model = "score";
  arguments.greater_is_better = false;
  return arguments;
}

TEST(TrainerCheckpoints, AreSavedEverySoManyUpdatesAndAtTheEnd) {
  const TemporaryFolder folder;
  Toy toy;
  const auto data = target_rows({1, 1});
  auto arguments = saving_arguments(folder / "run", 10, 4);
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 4;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data, .eval_dataset = &data});
  EXPECT_THAT(saved_steps(folder / "run"), ElementsAre(4, 8, 10));
  EXPECT_THAT(logged_steps(run.log, "eval_loss"), ElementsAre(4, 8, 10));
}

TEST(TrainerCheckpoints, FollowTheStrategy) {
  const TemporaryFolder folder;
  const auto data = target_rows({1, 1});
  const auto steps_with = [&](const std::string& strategy) {
    Toy toy;
    auto arguments = saving_arguments(folder / strategy, 5, 2);
    arguments.save_strategy = strategy;
    train(toy, arguments, {.train_dataset = &data});
    return saved_steps(folder / strategy);
  };
  EXPECT_THAT(steps_with("no"), IsEmpty());
  EXPECT_THAT(steps_with("steps"), ElementsAre(2, 4, 5));
  EXPECT_THAT(steps_with("epoch"), ElementsAre(2, 4, 5));
}

TEST(TrainerCheckpoints, OfTheBestOnlyAreSavedWhenAnEvaluationImproves) {
  const TemporaryFolder folder;
  Toy toy;
  const auto data = target_rows({1, 1});
  auto arguments = scored_arguments(folder / "run", 5);
  arguments.save_strategy = "best";
  train(toy, arguments, scores(data, {3, 1, 2, 0.5, 0.5}));
  EXPECT_THAT(saved_steps(folder / "run"), ElementsAre(1, 2, 4));
}

TEST(TrainerCheckpoints, TheBestAndTheNewestSurviveEveryLimit) {
  const auto data = target_rows({1, 1});
  const std::vector<std::vector<int64_t>> left{{2, 5}, {2, 5}, {2, 4, 5}};
  for (int64_t limit = 1; limit <= 3; ++limit) {
    SCOPED_TRACE(limit);
    const TemporaryFolder folder;
    Toy toy;
    auto arguments = scored_arguments(folder / "run", 5);
    arguments.save_total_limit = limit;
    train(toy, arguments, scores(data, {3, 1, 2, 2.5, 2.6}));
    EXPECT_EQ(saved_steps(folder / "run"), left[static_cast<size_t>(limit - 1)]);
  }
}

TEST(TrainerCheckpoints, TheBestModelIsLoadedAtTheEnd) {
  const TemporaryFolder folder;
  Toy toy;
  const auto data = target_rows({1, 1});
  auto arguments = scored_arguments(folder / "run", 4);
  arguments.load_best_model_at_end = true;
  const ToyRun run = train(toy, arguments, scores(data, {3, 1, 2, 2.5}));
  EXPECT_NEAR(run.weights.back(), 0.3439, 1e-6);
  EXPECT_NEAR(toy.w(), 0.19, 1e-6);  // after update 2
  EXPECT_THAT(run.output.messages,
              ElementsAre("the model has the weights of " + (folder / "run/checkpoint-2") + ", with the best score 1"));
  const auto state = TrainerState::load(folder / "run/checkpoint-4/trainer_state.json");
  EXPECT_EQ(state.best_model_checkpoint, folder / "run/checkpoint-2");
  EXPECT_EQ(state.best_metric, 1.0);
}

TEST(TrainerCheckpoints, TheBestIsTheBestOfThoseThatWereSaved) {
  const TemporaryFolder folder;
  Toy toy;
  const auto data = target_rows({1, 1});
  auto arguments = scored_arguments(folder / "run", 4);
  arguments.save_steps = 2;
  arguments.load_best_model_at_end = true;
  train(toy, arguments, scores(data, {0.5, 2, 3, 2.5}));
  EXPECT_NEAR(toy.w(), 0.19, 1e-6);
}

TEST(TrainerCheckpoints, HoldWhatBelongsToTheModelAndAreAnnouncedWhenWhole) {
  const TemporaryFolder folder;
  Toy toy;
  const auto data = target_rows({1, 1});
  struct OnSave : Callback {
    void on_save(const TrainingContext&, const std::filesystem::path& path) override {
      EXPECT_FALSE(find_damage(path).has_value());
      names.push_back(path.filename());
    }
    std::vector<std::string> names;
  };
  const auto on_save = std::make_shared<OnSave>();
  train(toy, saving_arguments(folder / "run", 4, 2),
        {.train_dataset = &data, .callbacks = {on_save}, .model_files = {{"config.json", "{}\n"}}});
  EXPECT_THAT(on_save->names, ElementsAre("checkpoint-2", "checkpoint-4"));
  EXPECT_EQ(read_text(folder / "run/checkpoint-4/config.json"), "{}\n");
  EXPECT_EQ(TrainingArguments::from_json_file(folder / "run/checkpoint-4/training_args.json").max_steps, 4);
}

TEST(TrainerCheckpoints, ACallbackCanAskForOne) {
  const TemporaryFolder folder;
  Toy toy;
  const auto data = target_rows({1, 1});
  struct SaveAtThree : Callback {
    void on_step_end(const TrainingContext& context, const StepReport&, Control& control) override {
      control.save = context.progress.step == 3;
    }
  };
  train(toy, saving_arguments(folder / "run", 4, 100),
        {.train_dataset = &data, .callbacks = {std::make_shared<SaveAtThree>()}});
  EXPECT_THAT(saved_steps(folder / "run"), ElementsAre(3, 4));
}

class SaveErrorTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ways, SaveErrorTest, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "InBackground" : "AtOnce"; });

TEST_P(SaveErrorTest, StopsTrainingOrIsToldAsThePolicySays) {
  const TemporaryFolder folder;
  write_text(folder / "file", "not a folder");
  Toy toy;
  const auto data = target_rows({1, 1});
  auto arguments = saving_arguments(folder / "file", 4, 2);
  arguments.save_in_background = GetParam();
  const std::string text = (folder / "file") + "/checkpoint-2 could not be saved: ";
  EXPECT_THAT(error_of([&] { train(toy, arguments, {.train_dataset = &data}); }), HasSubstr(text));
  arguments.save_on_error = "continue";
  const ToyRun run = train(toy, arguments, {.train_dataset = &data});
  EXPECT_EQ(run.output.global_step, 4);
  EXPECT_THAT(run.output.messages, Contains(HasSubstr(text)));
}

TEST(TrainerCheckpoints, ARequestToStopSavesUnlessSavingIsOff) {
  const auto data = target_rows({1, 1});
  struct StopAfterThree : Callback {
    void on_step_end(const TrainingContext& context, const StepReport&, Control&) override {
      if (context.progress.step == 3) source.request_stop();
    }
    std::stop_source source;
  };
  for (const std::string strategy : {"steps", "no"}) {
    SCOPED_TRACE(strategy);
    const TemporaryFolder folder;
    Toy toy;
    const auto stopper = std::make_shared<StopAfterThree>();
    auto arguments = saving_arguments(folder / "run", 6, 100);
    arguments.save_strategy = strategy;
    const ToyRun run = train(
        toy, arguments, {.train_dataset = &data, .callbacks = {stopper}, .stop_token = stopper->source.get_token()});
    EXPECT_TRUE(run.output.interrupted);
    EXPECT_EQ(run.output.global_step, 3);
    EXPECT_EQ(saved_steps(folder / "run"), strategy == "no" ? std::vector<int64_t>{} : std::vector<int64_t>{3});
  }
}

TEST(TrainerCheckpoints, NoUnfinishedFolderOfADeadProcessStays) {
  const TemporaryFolder folder;
  // No process has the number 2^22 + 1 on Linux.
  std::filesystem::create_directories(folder.path() / "run/.checkpoint-7.4194305-0.tmp");
  Toy toy;
  const auto data = target_rows({1, 1});
  train(toy, saving_arguments(folder / "run", 2, 2), {.train_dataset = &data});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/.checkpoint-7.4194305-0.tmp"));
}

}  // namespace
}  // namespace lope::testing
