#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "lope/callbacks/early_stopping.h"
#include "lope/checkpoints.h"
#include "support/crashing_run.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Trains to the end in one go, and with a crash after update 13, and compares.
void expect_resumes(TrainingArguments arguments, const Dataset& data, int64_t crash_after = 13) {
  const TemporaryFolder folder;
  arguments.output_dir = folder / "whole";
  const RunResult whole = run_training(arguments, data);
  arguments.output_dir = folder / "broken";
  run_until(crash_after, arguments, data);
  arguments.resume_from_checkpoint = "true";
  const RunResult resumed = run_training(arguments, data);
  ASSERT_THAT(resumed.output.messages, Contains(HasSubstr("training goes on from")));
  expect_same_run(resumed, whole);
}

TEST(Resume, GivesTheSameBitsInsideAnEpochAndAtItsBorder) {
  // 11 rows in batches of 2 are 6 micro-batches: with G 1 update 10 is inside epoch 1, with G 2 and 3 an epoch has 3
  // and 2 updates. Update 12 is a border for each.
  const auto data = numbered_rows(11);
  for (const int64_t accumulation : {1, 2, 3}) {
    for (const double save_steps : {10.0, 12.0}) {
      SCOPED_TRACE(::testing::Message() << "G " << accumulation << ", saved every " << save_steps);
      auto arguments = resumable_arguments("");
      arguments.gradient_accumulation_steps = accumulation;
      arguments.save_steps = save_steps;
      expect_resumes(arguments, data);
    }
  }
}

TEST(Resume, KeepsTheScalerAndItsGrowthInHalfPrecision) {
  auto arguments = resumable_arguments("");
  arguments.fp16 = true;
  arguments.fp16_init_scale = 1e9;  // overflows at first
  arguments.fp16_scale_growth_interval = 4;
  expect_resumes(arguments, numbered_rows(11));
}

TEST(Resume, GivesTheSameBitsForEveryOptimizer) {
  const auto data = numbered_rows(11);
  for (const std::string_view name : kOptimizerNames) {
    SCOPED_TRACE(name);
    auto arguments = resumable_arguments("");
    arguments.optim = name;
    if (name == "sgd") arguments.optim_args = "momentum=0.9";
    expect_resumes(arguments, data);
  }
}

TEST(Resume, GoesOnWithEvaluationsAndTheBestModel) {
  const auto data = numbered_rows(11);
  for (const std::string strategy : {"steps", "epoch"}) {
    SCOPED_TRACE(strategy);
    auto arguments = resumable_arguments("");
    arguments.eval_strategy = arguments.save_strategy = strategy;
    arguments.eval_steps = 5;
    arguments.load_best_model_at_end = true;
    arguments.save_total_limit = 1;
    expect_resumes(arguments, data);
  }
}

TEST(Resume, GoesOnWithReduceOnPlateau) {
  auto arguments = resumable_arguments("");
  arguments.lr_scheduler_type = "reduce_lr_on_plateau";
  arguments.lr_scheduler_kwargs["patience"] = 0.0;
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 2;
  expect_resumes(arguments, numbered_rows(11));
}

TEST(Resume, GoesOnWithoutBackgroundSavingAndFromTheVeryLastUpdate) {
  auto arguments = resumable_arguments("");
  arguments.save_in_background = false;
  arguments.logging_strategy = "epoch";
  arguments.save_steps = 1;
  arguments.max_steps = 18;  // the end of the third epoch
  expect_resumes(arguments, numbered_rows(11), 18);
}

TEST(Resume, GivesTheSameRandomExamplesWithWorkers) {
  struct Augmented : Dataset {
    TensorDataset rows = numbered_rows(11);
    int64_t size() const override { return rows.size(); }
    bool augments() const override { return true; }
    Batch get(int64_t index) const override { return rows.get(index); }
    Batch get_augmented(int64_t index, at::Generator generator) const override {
      Batch example = rows.get(index);
      example.set("x", example["x"] + at::randn({6}, std::move(generator)));
      return example;
    }
  };
  for (const int64_t workers : {0, 2}) {
    SCOPED_TRACE(workers);
    auto arguments = resumable_arguments("");
    arguments.dataloader_num_workers = workers;
    expect_resumes(arguments, Augmented());
  }
}

TEST(Resume, GoesOnInAStream) {
  struct Stream : IterableDataset {
    TensorDataset rows = numbered_rows(9);
    struct Pass : ExampleStream {
      explicit Pass(const TensorDataset& all) : rows(all) {}
      std::optional<Batch> next() override { return at < rows.size() ? std::optional(rows.get(at++)) : std::nullopt; }
      const TensorDataset& rows;
      int64_t at = 0;
    };
    std::unique_ptr<ExampleStream> begin(uint64_t, int64_t) const override { return std::make_unique<Pass>(rows); }
  } stream;
  const TemporaryFolder folder;
  const auto train = [&](const std::string& name, int64_t crash_after, const std::string& resume) {
    auto arguments = resumable_arguments(folder / name);
    arguments.gradient_accumulation_steps = 2;
    DropoutNet net = DropoutNet::seeded();
    Trainer trainer(arguments, net.net, net.loss(),
                    {.train_stream = &stream,
                     .callbacks = {std::make_shared<CrashAfter>(crash_after)},
                     .default_callbacks = false});
    if (crash_after > 0) {
      EXPECT_THROW(trainer.train(resume), std::runtime_error);
    } else {
      trainer.train(resume);
    }
    return trainer.model().state();
  };
  const TensorMap whole = train("whole", 0, "");
  train("broken", 14, "");
  expect_same_weights(train("broken", 0, "true"), whole);
}

TEST(Resume, ContinuesTheLogAndTheMeanSinceTheLastEntry) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  const auto arguments = resumable_arguments(folder / "run");
  run_until(13, arguments, data);
  DropoutNet net = DropoutNet::seeded();
  Trainer trainer(arguments, net.net, net.loss(), {.train_dataset = &data, .default_callbacks = false});
  trainer.train("true");
  std::vector<int64_t> steps;
  for (const auto& entry : trainer.log_history()) steps.push_back(entry.step);
  EXPECT_THAT(steps, ElementsAre(3, 6, 9, 12, 15, 18, 20));
}

TEST(Resume, StopsAfterTheThirdBadEvaluationOfWhichTwoWereBefore) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.learning_rate = 0;
  arguments.eval_strategy = "steps";
  arguments.metric_for_best_model = "constant";
  arguments.eval_steps = arguments.save_steps = 2;
  const auto options = [] {
    TrainerOptions with;
    with.compute_metrics = [](const EvalPrediction&) { return Metrics{{"constant", 1.0}}; };
    with.label_names = {"y"};
    with.callbacks = {std::make_shared<EarlyStopping>(3)};
    return with;
  };
  const auto with_predictions = [&](TrainerOptions given, bool crash) {
    DropoutNet net = DropoutNet::seeded();
    given.train_dataset = given.eval_dataset = &data;
    given.forward = [&](const Batch& batch) { return net.net->forward(batch["x"]); };
    given.default_callbacks = false;
    if (crash) given.callbacks.push_back(std::make_shared<CrashAfter>(7));
    Trainer trainer(arguments, net.net, net.loss(), std::move(given));
    if (!crash) return trainer.train("true").global_step;
    EXPECT_THROW(trainer.train(), std::runtime_error);
    return trainer.progress().step;
  };
  EXPECT_EQ(with_predictions(options(), true), 7);  // the first evaluation is the best, 2 bad ones at 4 and 6
  EXPECT_EQ(with_predictions(options(), false), 8);
}

TEST(Resume, PassesOverADamagedCheckpointAndSaysSo) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.save_steps = 5;
  const RunResult whole = run_training(arguments, data);
  const std::string model = folder / "run/checkpoint-20/model.safetensors";
  std::string bytes = read_text(model);
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 4);
  write_text(model, bytes);
  arguments.resume_from_checkpoint = "true";
  const RunResult resumed = run_training(arguments, data);
  EXPECT_THAT(resumed.output.messages, Contains(HasSubstr("checkpoint-20 is passed over: model.safetensors: ")));
  EXPECT_THAT(resumed.output.messages, Contains(HasSubstr("checkpoint-15: update 15 of 20")));
  expect_same_run(resumed, whole);
}

TEST(Resume, StartsFromTheBeginningWhereThereIsNoCheckpointAndSaysSo) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.resume_from_checkpoint = "true";
  const RunResult run = run_training(arguments, data);
  EXPECT_THAT(run.output.messages,
              ElementsAre((folder / "run") + " has no checkpoint to go on from: training starts from the beginning"));
  EXPECT_EQ(run.output.global_step, 20);
}

TEST(Resume, RefusesAPathThatIsNoCheckpoint) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.resume_from_checkpoint = folder / "nothing";
  EXPECT_EQ(error_of([&] { run_training(arguments, data); }),
            "resume_from_checkpoint is \"" + (folder / "nothing") +
                "\": there is no such folder; give that of a checkpoint, or true for the newest in output_dir");
}

TEST(Resume, RefusesACheckpointOfTheModelAlone) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.save_only_model = true;
  run_training(arguments, data);
  EXPECT_FALSE(std::filesystem::exists(folder / "run/checkpoint-20/optimizer.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint-20/model.safetensors"));
  arguments.resume_from_checkpoint = folder / "run/checkpoint-20";
  EXPECT_THAT(error_of([&] { run_training(arguments, data); }), HasSubstr("holds the model only (save_only_model)"));
}

TEST(Resume, SaysWhichArgumentsHaveChangedAndUsesTheNewOnes) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  arguments.lr_scheduler_type = "constant";
  run_until(13, arguments, data);
  arguments.resume_from_checkpoint = "true";
  arguments.learning_rate = 0.025;
  arguments.adam_beta1 = 0.8;
  arguments.logging_steps = 4;
  const RunResult run = run_training(arguments, data);
  EXPECT_THAT(run.output.messages,
              ElementsAre("learning_rate is 0.025, the checkpoint's was 0.05: training goes on with 0.025",
                          "adam_beta1 is 0.8, the checkpoint's was 0.9: training goes on with 0.8",
                          "training goes on from " + (folder / "run/checkpoint-10") + ": update 10 of 20"));
  EXPECT_EQ(run.log.back().step, 20);
  const LogEntry& at_twelve = run.log[3];
  EXPECT_EQ(at_twelve.step, 12);  // logging_steps takes its new value
  EXPECT_EQ(at_twelve.find("learning_rate"), 0.025);
}

TEST(Resume, KeepsItsPlaceInExamplesWhenBatchSizeAndAccumulationChange) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(40);
  auto arguments = resumable_arguments(folder / "run");
  run_until(13, arguments, data);  // checkpoint-10: after 20 examples of epoch 0
  arguments.resume_from_checkpoint = "true";
  arguments.per_device_train_batch_size = 3;
  arguments.gradient_accumulation_steps = 2;
  arguments.max_steps = 14;  // 7 micro-batches are left: 4 updates
  const RunResult run = run_training(arguments, data);
  std::vector<int64_t> rest = run.ids;
  EXPECT_EQ(rest.size(), 20);
  arguments.resume_from_checkpoint = "";
  arguments.per_device_train_batch_size = 1;
  arguments.gradient_accumulation_steps = 1;
  arguments.max_steps = 40;
  const RunResult one_by_one = run_training(arguments, data);
  EXPECT_EQ(rest, std::vector<int64_t>(one_by_one.ids.begin() + 20, one_by_one.ids.end()));
}

TEST(Resume, RefusesAnotherOrderInTheMiddleOfAnEpoch) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(40);
  auto arguments = resumable_arguments(folder / "run");
  run_until(13, arguments, data);
  arguments.resume_from_checkpoint = "true";
  const std::string rest =
      ", and the checkpoint stands after example 20 of epoch 0: the order of the rest would be another; take it back, "
      "or resume from a checkpoint at the end of an epoch";
  auto seeded = arguments;
  seeded.data_seed = 5;
  EXPECT_EQ(error_of([&] { run_training(seeded, data); }),
            "the seed of the order is 5, the checkpoint's was 42" + rest);
  auto sequential = arguments;
  sequential.train_sampling_strategy = "sequential";
  EXPECT_EQ(error_of([&] { run_training(sequential, data); }),
            "train_sampling_strategy is \"sequential\", the checkpoint's was \"random\"" + rest);
  EXPECT_EQ(error_of([&] { run_training(arguments, numbered_rows(41)); }),
            "an epoch of the training data has 41 examples, the checkpoint's had 40" + rest);
}

TEST(Resume, RefusesTheStateOfAnotherOptimizer) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "run");
  run_until(13, arguments, data);
  arguments.resume_from_checkpoint = "true";
  arguments.optim = "adam";
  EXPECT_EQ(
      error_of([&] { run_training(arguments, data); }),
      "optim is \"adam\", but the checkpoint's state is of \"adamw_torch_fused\": set optim to it, or start anew");
}

TEST(Resume, ASecondTrainingStartsCleanUnlessAsked) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  const auto arguments = resumable_arguments(folder / "run");
  DropoutNet net = DropoutNet::seeded();
  Trainer trainer(arguments, net.net, net.loss(), {.train_dataset = &data, .default_callbacks = false});
  EXPECT_EQ(trainer.train().messages, std::vector<std::string>{});
  const TrainOutput again = trainer.train();
  EXPECT_EQ(net.ids.size(), 2 * 37U);  // 20 updates are 37 examples: 11 · 3 and 2 batches of 2
  EXPECT_THAT(again.messages, ElementsAre(HasSubstr("has checkpoints of an earlier training up to checkpoint-20")));
  const TrainOutput resumed = trainer.train("true");
  EXPECT_EQ(resumed.global_step, 20);
  EXPECT_EQ(net.ids.size(), 2 * 37U);
}

TEST(Resume, LosesNothingToAStopAndRunsTheSameBits) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  auto arguments = resumable_arguments(folder / "whole");
  const RunResult whole = run_training(arguments, data);
  arguments.output_dir = folder / "stopped";
  struct StopAfterSeven : Callback {
    std::stop_source source;
    void on_step_end(const TrainingContext& context, const StepReport&, Control&) override {
      if (context.progress.step == 7) source.request_stop();
    }
  };
  const auto stopper = std::make_shared<StopAfterSeven>();
  const RunResult stopped =
      run_training(arguments, data, {.callbacks = {stopper}, .stop_token = stopper->source.get_token()});
  EXPECT_TRUE(stopped.output.interrupted);
  EXPECT_EQ(stopped.output.global_step, 7);
  arguments.resume_from_checkpoint = "true";
  const RunResult resumed = run_training(arguments, data);
  EXPECT_FALSE(resumed.output.interrupted);
  expect_same_run(resumed, whole);
}

}  // namespace
}  // namespace lope::testing
