#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>
#include <lope/trainer.h>

#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/error_of.h"
#include "support/loader_data.h"
#include "support/toy_trainer.h"

namespace lope {
namespace {

using namespace lope::testing;

/// The toy's rows with targets 0, 1, …; training sees them with noise.
struct NoisyRows : Dataset {
  int64_t size() const override { return 23; }
  Batch get(int64_t index) const override { return row(index, 0.0); }
  bool augments() const override { return true; }
  Batch get_augmented(int64_t index, at::Generator generator) const override {
    return row(index, at::rand({}, generator, at::TensorOptions(at::kDouble)).item<double>());
  }
  std::optional<int64_t> length(int64_t index) const override { return index; }

 private:
  static Batch row(int64_t index, double noise) {
    const double target = static_cast<double>(index) + noise;
    return {{"x", at::full({}, 1.0)}, {"y", at::full({}, target)}};
  }
};

ToyRun run_with(int64_t workers, const std::string& sampling, TrainingArguments arguments = toy_arguments()) {
  const NoisyRows data;
  arguments.per_device_train_batch_size = 2;
  arguments.per_device_eval_batch_size = 3;
  arguments.num_train_epochs = 3;
  arguments.eval_strategy = "epoch";
  arguments.train_sampling_strategy = sampling;
  arguments.dataloader_num_workers = workers;
  Toy toy;
  return train(toy, arguments, {.train_dataset = &data, .eval_dataset = &data});
}

TEST(TrainerLoading, WorkersChangeNoBitOfTraining) {
  for (const char* sampling : {"random", "sequential", "group_by_length"}) {
    const ToyRun expected = run_with(0, sampling);
    EXPECT_EQ(expected.weights.size(), 36U);
    for (const int64_t workers : {1, 2, 4}) {
      const ToyRun run = run_with(workers, sampling);
      EXPECT_EQ(run.weights, expected.weights) << workers << " workers, " << sampling;
      EXPECT_EQ(logged(run.log, "eval_loss"), logged(expected.log, "eval_loss")) << workers << " workers, " << sampling;
    }
  }
}

TEST(TrainerLoading, EachSamplingStrategyHasItsOwnOrder) {
  const auto random = run_with(0, "random").weights;
  EXPECT_NE(random, run_with(0, "sequential").weights);
  EXPECT_NE(random, run_with(0, "group_by_length").weights);
}

TEST(TrainerLoading, PersistentWorkersChangeNothingEither) {
  TrainingArguments arguments = toy_arguments();
  arguments.dataloader_persistent_workers = true;
  arguments.dataloader_prefetch_factor = 1;
  EXPECT_EQ(run_with(2, "random", arguments).weights, run_with(0, "random").weights);
}

TEST(TrainerLoading, TrainingCanEndInTheMiddleOfAnEpoch) {
  TrainingArguments arguments = toy_arguments();
  arguments.max_steps = 17;
  EXPECT_EQ(run_with(2, "random", arguments).weights, run_with(0, "random", arguments).weights);
}

TEST(TrainerLoading, EvaluationLoadsInWorkersToo) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  struct Rows : NoisyRows {
    std::function<void()> seen;
    Batch get(int64_t index) const override {
      seen();
      return NoisyRows::get(index);
    }
  } data;
  data.seen = [&] {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  };
  TrainingArguments arguments = toy_arguments();
  arguments.dataloader_num_workers = 1;
  Toy toy;
  Trainer trainer(arguments, toy.model, toy.loss(), {.eval_dataset = &data, .default_callbacks = false});
  trainer.evaluate();
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(TrainerLoading, DropLastLeavesOutTheShortMicroBatch) {
  TrainingArguments arguments = toy_arguments();
  arguments.dataloader_drop_last = true;
  EXPECT_EQ(run_with(2, "random", arguments).weights.size(), 33U);
}

TEST(TrainerLoading, LengthsThatAreNotKnownAreAskedFor) {
  const auto data = target_rows({1, 2, 3});
  TrainingArguments arguments = toy_arguments();
  arguments.train_sampling_strategy = "group_by_length";
  Toy toy;
  EXPECT_EQ(error_of([&] { train(toy, arguments, {.train_dataset = &data}); }),
            "data set: the length of example 0 is not known, and the order is by lengths: override Dataset::length, or "
            "choose random or sequential sampling");
}

TEST(TrainerLoading, AWorkersErrorReachesTheCaller) {
  struct Broken : NoisyRows {
    Batch get_augmented(int64_t index, at::Generator generator) const override {
      if (index == 11) throw std::runtime_error("no such row");
      return NoisyRows::get_augmented(index, std::move(generator));
    }
  };
  const Broken data;
  TrainingArguments arguments = toy_arguments();
  arguments.dataloader_num_workers = 2;
  Toy toy;
  EXPECT_EQ(error_of([&] { train(toy, arguments, {.train_dataset = &data}); }), "data set: example 11: no such row");
}

}  // namespace
}  // namespace lope
