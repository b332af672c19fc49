#include "lope/trainer.h"

#include <gmock/gmock.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <limits>

#include "lope/optimizers.h"
#include "lope/seed.h"
#include "support/error_of.h"
#include "support/toy_trainer.h"

namespace lope::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

std::vector<double> rates(const ToyRun& run) { return logged(run.log, "learning_rate"); }

TEST(Trainer, TakesNineUpdatesForNineExamplesBatchTwoAccumulationTwoThreeEpochs) {
  Toy toy;
  const auto data = target_rows(std::vector<double>(9, 1.0));
  auto arguments = toy_arguments();
  arguments.per_device_train_batch_size = 2;
  arguments.gradient_accumulation_steps = 2;
  arguments.num_train_epochs = 3;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data});
  EXPECT_EQ(run.output.global_step, 9);
  EXPECT_EQ(run.progress.samples, 27);
  EXPECT_EQ(run.progress.epoch, 3);
}

TEST(Trainer, StepsTheShorterLastWindowOfAnEpochWithItsOwnMean) {
  Toy toy;
  const auto data = target_rows(std::vector<double>(5, 1.0));
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 4;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data});
  EXPECT_THAT(run.weights, Pointwise(DoubleNear(1e-6), {0.1, 0.19}));
}

TEST(Trainer, NeverLetsAWindowCrossTheEndOfAnEpoch) {
  Toy toy;
  const auto data = target_rows({1, 1, 1});
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 2;
  arguments.num_train_epochs = 2;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data});
  EXPECT_THAT(run.weights, Pointwise(DoubleNear(1e-6), {0.1, 0.19, 0.271, 0.3439}));
}

TEST(Trainer, StartsAStreamAgainWithoutLeakingItsTail) {
  Toy toy;
  const OnesStream stream(3);
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 2;
  arguments.max_steps = 4;
  const ToyRun run = train(toy, arguments, {.train_stream = &stream});
  EXPECT_THAT(run.weights, Pointwise(DoubleNear(1e-6), {0.1, 0.19, 0.271, 0.3439}));
  EXPECT_THAT(logged(run.log, "grad_norm"), Pointwise(DoubleNear(1e-6), {1.0, 0.9, 0.81, 0.729}));
}

TEST(Trainer, RefusesAStreamThatYieldsNothing) {
  Toy toy;
  const OnesStream stream(0);
  auto arguments = toy_arguments();
  arguments.max_steps = 1;
  EXPECT_EQ(error_of([&] { train(toy, arguments, {.train_stream = &stream}); }),
            "training data: epoch 0 yields no example: give at least one");
}

TEST(Trainer, RefusesAStreamWithoutMaxSteps) {
  Toy toy;
  const OnesStream stream(3);
  EXPECT_THAT(error_of([&] { train(toy, toy_arguments(), {.train_stream = &stream}); }),
              ::testing::HasSubstr("max_steps"));
}

TEST(Trainer, GivesTheFirstUpdateOfAWarmedUpRunRateZero) {
  Toy toy;
  const auto data = target_rows({1, 1, 1, 1});
  auto arguments = toy_arguments();
  arguments.lr_scheduler_type = "linear";
  arguments.warmup_steps = 2;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data});
  EXPECT_THAT(rates(run), Pointwise(DoubleNear(1e-12), {0.0, 0.05, 0.1, 0.05}));
  EXPECT_EQ(run.weights[0], 0.0);
}

TEST(Trainer, UsesTheUsersOwnSchedule) {
  Toy toy;
  const auto data = target_rows({1, 1, 1});
  const ToyRun run = train(toy, toy_arguments(),
                           {.train_dataset = &data, .schedule = [](int64_t step) { return step == 0 ? 2.0 : 0.5; }});
  EXPECT_THAT(rates(run), Pointwise(DoubleNear(1e-12), {0.2, 0.05, 0.05}));
}

/// Losses 1, 2, 3 … whatever the weight: 0·w + target.
LossFunction constant_losses(const Toy& toy) {
  return [module = toy.module](const Batch& batch) { return (module->w * 0.0 + batch["y"]).mean(); };
}

TEST(Trainer, LogsTheMeanOfTheWindowsSinceTheLastLog) {
  Toy toy;
  const auto data = target_rows({1, 2, 3, 4, 5, 6, 7});
  auto arguments = toy_arguments();
  arguments.logging_steps = 3;
  Trainer trainer(arguments, toy.model, constant_losses(toy), {.train_dataset = &data, .default_callbacks = false});
  const TrainOutput output = trainer.train();
  EXPECT_THAT(logged(trainer.log_history(), "loss"), Pointwise(DoubleNear(1e-6), {2.0, 5.0}));
  EXPECT_NEAR(output.training_loss, 4.0, 1e-6);
  EXPECT_THAT(logged(trainer.log_history(), "train_loss"), Pointwise(DoubleNear(1e-6), {4.0}));
}

TEST(Trainer, LogsAConstantLossAsItIsUnderAccumulation) {
  Toy toy;
  const auto data = target_rows({2, 2, 2, 2});
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 4;
  Trainer trainer(arguments, toy.model, constant_losses(toy), {.train_dataset = &data, .default_callbacks = false});
  trainer.train();
  EXPECT_THAT(logged(trainer.log_history(), "loss"), Pointwise(DoubleNear(1e-6), {2.0}));
}

TEST(Trainer, ReportsTheEpochAsAFraction) {
  Toy toy;
  const auto data = target_rows({1, 1, 1, 1});
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 2;
  arguments.num_train_epochs = 2;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data});
  std::vector<double> epochs;
  for (const auto& entry : run.log) {
    if (entry.find("loss")) epochs.push_back(entry.epoch);
  }
  EXPECT_THAT(epochs, Pointwise(DoubleNear(1e-12), {0.5, 1.0, 1.5, 2.0}));
}

TEST(Trainer, EvaluatesAtFourEightAndTheEnd) {
  Toy toy;
  const auto data = target_rows(std::vector<double>(20, 1.0));
  auto arguments = toy_arguments();
  arguments.max_steps = 10;
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 4;
  const ToyRun run = train(toy, arguments, {.train_dataset = &data, .eval_dataset = &data});
  EXPECT_THAT(logged_steps(run.log, "eval_loss"), ElementsAre(4, 8, 10));
}

TEST(Trainer, EvaluatesAtTheEndOfEachEpoch) {
  Toy toy;
  const auto data = target_rows({1, 1, 1});
  auto arguments = toy_arguments();
  arguments.num_train_epochs = 2;
  arguments.eval_strategy = "epoch";
  const ToyRun run = train(toy, arguments, {.train_dataset = &data, .eval_dataset = &data});
  EXPECT_THAT(logged_steps(run.log, "eval_loss"), ElementsAre(3, 6));
}

TEST(Trainer, EvaluationIsTheMeanOverRowsForEveryBatchSize) {
  for (const int64_t batch_size : {1, 2, 3, 5}) {
    Toy toy;
    const auto data = target_rows({1, 1, 1, 1, 9});
    auto arguments = toy_arguments();
    arguments.per_device_eval_batch_size = batch_size;
    Trainer trainer(arguments, toy.model, constant_losses(toy), {.eval_dataset = &data, .default_callbacks = false});
    EXPECT_NEAR(trainer.evaluate().at("eval_loss"), 2.6, 1e-6) << "batch size " << batch_size;
  }
}

/// Dropout, batch normalisation and shuffling: whatever evaluation could disturb.
std::vector<at::Tensor> train_net(bool evaluate, int64_t accumulate) {
  set_seed(7);
  torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::BatchNorm1d(8), torch::nn::Dropout(0.5),
                            torch::nn::Linear(8, 1));
  const TensorDataset data({{"x", at::randn({12, 4})}, {"y", at::randn({12, 1})}});
  TrainingArguments arguments = toy_arguments();
  arguments.per_device_train_batch_size = 2;
  arguments.gradient_accumulation_steps = accumulate;
  arguments.num_train_epochs = 2;
  arguments.train_sampling_strategy = "random";
  if (evaluate) {
    arguments.eval_strategy = "steps";
    arguments.eval_steps = 1;
  }
  Trainer trainer(arguments, net,
                  [&](const Batch& batch) { return lope::mse_loss(net->forward(batch["x"]), batch["y"]); },
                  {.train_dataset = &data, .eval_dataset = &data, .default_callbacks = false});
  trainer.train();
  EXPECT_TRUE(net->is_training());
  std::vector<at::Tensor> out = net->parameters();
  for (const auto& buffer : net->buffers()) out.push_back(buffer);
  return out;
}

TEST(Trainer, EvaluationChangesNothingOfTheTraining) {
  for (const int64_t accumulate : {1, 2}) {
    const auto with = train_net(true, accumulate);
    const auto without = train_net(false, accumulate);
    for (size_t i = 0; i < with.size(); ++i) EXPECT_TRUE(with[i].equal(without[i])) << i;
  }
}

/// Evaluates by itself after every micro-batch but the last of a window.
TEST(Trainer, EvaluationBetweenMicroBatchesLeavesTheWindowAlone) {
  Toy toy;
  const auto data = target_rows({3, 4});
  Trainer trainer(toy_arguments(), toy.model, toy.loss(), {.eval_dataset = &data, .default_callbacks = false});
  const auto optimizer = std::make_unique<SGD>(parameter_groups(toy.model, 0.0));
  Stepper stepper(toy.model, *optimizer, toy.loss(), constant_rate(0.1), {.max_grad_norm = 0.0});
  stepper.accumulate(targets({1}));
  EXPECT_NEAR(trainer.evaluate().at("eval_loss"), 6.25, 1e-6);
  stepper.accumulate(targets({1}));
  stepper.update();
  EXPECT_NEAR(toy.w(), 0.1, 1e-7);
}

/// Evaluations that return these losses, one after the other.
class ScriptedLosses {
 public:
  explicit ScriptedLosses(std::vector<double> values) : values_(std::move(values)) {}
  LossFunction loss(const Toy& toy) {
    return [this, module = toy.module](const Batch& batch) -> Loss {
      if (module->is_training()) return {module->w.sum() * 0.0, batch.rows()};
      const double value = values_.at(next_++);
      return {module->w.sum() * 0.0 + value, 1};
    };
  }

 private:
  std::vector<double> values_;
  size_t next_ = 0;
};

class BestRecorder : public Callback {
 public:
  void on_train_end(const TrainingContext& context) override { best = context.best; }
  std::optional<BestMetric> best;
};

TEST(Trainer, NaNIsNeverTheBestMetric) {
  Toy toy;
  ScriptedLosses script({std::numeric_limits<double>::quiet_NaN(), 0.5, 0.4});
  const auto data = target_rows({1, 1, 1});
  const auto one = target_rows({1});
  auto recorder = std::make_shared<BestRecorder>();
  auto arguments = toy_arguments();
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 1;
  Trainer trainer(arguments, toy.model, script.loss(toy),
                  {.train_dataset = &data, .eval_dataset = &one, .callbacks = {recorder}, .default_callbacks = false});
  trainer.train();
  ASSERT_TRUE(recorder->best.has_value());
  EXPECT_NEAR(recorder->best->value, 0.4, 1e-6);
  EXPECT_EQ(recorder->best->step, 3);
}

TEST(Trainer, ReducesTheRateOnAPlateauOfTheEvaluation) {
  Toy toy;
  ScriptedLosses script({1.0, 1.0, 1.0});
  const auto data = target_rows({1, 1, 1});
  const auto one = target_rows({1});
  auto arguments = toy_arguments();
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 1;
  arguments.lr_scheduler_type = "reduce_lr_on_plateau";
  arguments.lr_scheduler_kwargs = {{"patience", 0.0}, {"factor", 0.5}};
  Trainer trainer(arguments, toy.model, script.loss(toy),
                  {.train_dataset = &data, .eval_dataset = &one, .default_callbacks = false});
  trainer.train();
  EXPECT_THAT(logged(trainer.log_history(), "learning_rate"), Pointwise(DoubleNear(1e-12), {0.1, 0.1, 0.05}));
}

TEST(Trainer, LogsANaNLossAsNaNAndTheSkippedUpdate) {
  Toy toy;
  const auto data = target_rows({1, std::numeric_limits<double>::quiet_NaN(), 1});
  const ToyRun run = train(toy, toy_arguments(), {.train_dataset = &data});
  EXPECT_THAT(run.weights, Pointwise(DoubleNear(1e-6), {0.1, 0.1, 0.19}));
  EXPECT_TRUE(std::isnan(logged(run.log, "loss").at(1)));
  EXPECT_THAT(logged_steps(run.log, "skipped"), ElementsAre(2));
  EXPECT_EQ(run.progress.skipped, 1);
}

TEST(Trainer, StopsAfterTheSetNumberOfNonFiniteUpdatesInARow) {
  Toy toy;
  const auto data = target_rows(std::vector<double>(5, std::numeric_limits<double>::quiet_NaN()));
  auto arguments = toy_arguments();
  arguments.max_nonfinite_updates = 3;
  EXPECT_EQ(error_of([&] { train(toy, arguments, {.train_dataset = &data}); }),
            "training stopped at step 3: the gradient was not finite in 3 updates in a row (max_nonfinite_updates 3); "
            "lower the learning rate, or look for NaN in the data");
  EXPECT_EQ(toy.w(), 0.0);
}

TEST(Trainer, ASecondTrainingStartsCleanFromThePresentWeights) {
  Toy toy;
  const auto data = target_rows({1, 1});
  auto arguments = toy_arguments();
  arguments.lr_scheduler_type = "linear";
  Trainer trainer(arguments, toy.model, toy.loss(), {.train_dataset = &data, .default_callbacks = false});
  trainer.train();
  const double after_one = toy.w();
  trainer.train();
  EXPECT_EQ(trainer.progress().step, 2);
  EXPECT_THAT(logged(trainer.log_history(), "learning_rate"), Pointwise(DoubleNear(1e-12), {0.1, 0.05}));
  EXPECT_GT(toy.w(), after_one);
}

TEST(Trainer, ACallbackStopsTheTrainingAfterTheUpdate) {
  struct StopAtTwo : Callback {
    void on_step_end(const TrainingContext& context, const StepReport&, Control& control) override {
      control.stop = context.progress.step == 2;
    }
  };
  Toy toy;
  const auto data = target_rows({1, 1, 1, 1});
  const ToyRun run =
      train(toy, toy_arguments(), {.train_dataset = &data, .callbacks = {std::make_shared<StopAtTwo>()}});
  EXPECT_EQ(run.output.global_step, 2);
}

TEST(Trainer, ACallbackAsksForALogAndAnEvaluation) {
  struct Ask : Callback {
    void on_step_end(const TrainingContext& context, const StepReport&, Control& control) override {
      control.log = control.evaluate = context.progress.step == 2;
    }
  };
  Toy toy;
  const auto data = target_rows({1, 1, 1});
  auto arguments = toy_arguments();
  arguments.logging_strategy = "no";
  const ToyRun run =
      train(toy, arguments, {.train_dataset = &data, .eval_dataset = &data, .callbacks = {std::make_shared<Ask>()}});
  EXPECT_THAT(logged_steps(run.log, "loss"), ElementsAre(2));
  EXPECT_THAT(logged_steps(run.log, "eval_loss"), ElementsAre(2));
}

TEST(Trainer, AveragesWeightsOncePerUpdateNotPerMicroBatch) {
  struct Average : Callback {
    explicit Average(const Toy& model) : toy(model) {}
    void on_step_end(const TrainingContext&, const StepReport&, Control&) override {
      average += 0.5 * (toy.w() - average);
      ++updates;
    }
    const Toy& toy;
    double average = 0.0;
    int updates = 0;
  };
  Toy toy;
  const auto data = target_rows(std::vector<double>(8, 1.0));
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 4;
  auto average = std::make_shared<Average>(toy);
  train(toy, arguments, {.train_dataset = &data, .callbacks = {average}});
  EXPECT_EQ(average->updates, 2);
  EXPECT_NEAR(average->average, 0.12, 1e-6);  // 0.05, then halfway to 0.19
}

TEST(Trainer, GivesMetricsAllPredictionsAndLabelsInOrder) {
  Toy toy;
  const TensorDataset data({{"x", at::arange(5, at::kFloat)}, {"labels", at::arange(5, at::kFloat) + 1}});
  auto arguments = toy_arguments();
  arguments.per_device_eval_batch_size = 2;
  Trainer trainer(arguments, toy.model,
                  [&](const Batch& batch) { return lope::mse_loss(batch["x"] + toy.module->w, batch["labels"]); },
                  {.eval_dataset = &data,
                   .compute_metrics = [](const EvalPrediction& all) -> Metrics {
                     return {{"gap", (all.labels["labels"] - all.predictions).sum().item<double>()},
                             {"rows", static_cast<double>(all.predictions.size(0))}};
                   },
                   .default_callbacks = false});
  const Metrics metrics = trainer.evaluate();
  EXPECT_NEAR(metrics.at("eval_gap"), 5.0, 1e-6);
  EXPECT_EQ(metrics.at("eval_rows"), 5.0);
  EXPECT_NEAR(metrics.at("eval_loss"), 1.0, 1e-6);
}

TEST(Trainer, PredictsWithoutLabels) {
  Toy toy;
  const TensorDataset data({{"x", at::arange(5, at::kFloat)}});
  Trainer trainer(
      toy_arguments(), toy.model, toy.loss(),
      {.forward = [&](const Batch& batch) { return batch["x"] * 2 + toy.module->w; }, .default_callbacks = false});
  const PredictOutput output = trainer.predict(data);
  EXPECT_TRUE(output.predictions.equal(at::arange(5, at::kFloat) * 2));
  EXPECT_FALSE(output.metrics.contains("test_loss"));
}

TEST(Trainer, FillsUpRaggedPredictions) {
  Toy toy;
  struct Ragged : Dataset {
    int64_t size() const override { return 2; }
    Batch get(int64_t index) const override { return {{"x", at::ones({index + 1})}}; }
  };
  const Ragged data;
  auto arguments = toy_arguments();
  arguments.per_device_eval_batch_size = 1;
  Trainer trainer(arguments, toy.model, toy.loss(),
                  {.forward = [](const Batch& batch) { return batch["x"]; }, .default_callbacks = false});
  EXPECT_TRUE(trainer.predict(data).predictions.equal(at::tensor({1.0F, -100.0F, 1.0F, 1.0F}).view({2, 2})));
}

TEST(Trainer, RefusesWhatCannotWorkBeforeTheFirstStep) {
  Toy toy;
  const auto data = target_rows({1});
  const auto message = [&](auto change, TrainerOptions options) {
    auto arguments = toy_arguments();
    change(arguments);
    options.default_callbacks = false;
    return error_of([&] { Trainer(arguments, toy.model, toy.loss(), options).train(); });
  };
  EXPECT_EQ(message([](TrainingArguments&) {}, {}),
            "trainer: there is nothing to train on: set TrainerOptions::train_dataset or train_stream");
  EXPECT_EQ(message([](TrainingArguments& a) { a.eval_strategy = "steps"; }, {.train_dataset = &data}),
            "eval_strategy is \"steps\" but there is no eval_dataset: give one, or set eval_strategy to no");
  EXPECT_THAT(message([](TrainingArguments& a) { a.max_grad_norm = -1; }, {.train_dataset = &data}),
              ::testing::HasSubstr("max_grad_norm"));
  EXPECT_THAT(message([](TrainingArguments& a) { a.gradient_accumulation_steps = 0; }, {.train_dataset = &data}),
              ::testing::HasSubstr("gradient_accumulation_steps"));
  EXPECT_THAT(message([](TrainingArguments& a) { a.per_device_train_batch_size = 0; }, {.train_dataset = &data}),
              ::testing::HasSubstr("per_device_train_batch_size"));
  EXPECT_THAT(message([](TrainingArguments& a) { a.fp16 = a.bf16 = true; }, {.train_dataset = &data}),
              ::testing::HasSubstr("fp16"));
  EXPECT_EQ(message([](TrainingArguments& a) { a.use_cpu = false, a.device = "cuda:7"; }, {.train_dataset = &data})
                .substr(0, 17),
            "device is cuda:7:");
}

}  // namespace
}  // namespace lope::testing
