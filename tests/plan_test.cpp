#include <gtest/gtest.h>
#include <lope/plan.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

std::string error_of(const PlanInputs& inputs) {
  return testing::error_of([&] { plan(inputs); });
}

TEST(Plan, CountsUpdates) {
  struct Row {
    int64_t batches, accumulation;
    double epochs;
    int64_t updates_per_epoch, max_steps, begun_epochs;
  };
  const std::vector<Row> rows{
      {5, 2, 3.0, 3, 9, 3},       // 9 examples in batches of 2: 5 batches, the last window of an epoch has one
      {4, 2, 3.0, 2, 6, 3},       // no remainder
      {3, 8, 2.0, 1, 2, 2},       // an epoch shorter than a window is one update
      {5, 4, 1.0, 2, 2, 1},       //
      {10, 1, 0.5, 10, 5, 1},     // half an epoch
      {3, 1, 0.5, 3, 2, 1},       // ceil(1.5)
      {4, 1, 1.25, 4, 5, 2},      //
      {100, 1, 0.07, 100, 7, 1},  // exact: as doubles 0.07 · 100 is above 7
      {100, 1, 0.0701, 100, 8, 1},
  };
  for (const Row& row : rows) {
    const Plan made = plan({.batches_per_epoch = row.batches,
                            .gradient_accumulation_steps = row.accumulation,
                            .num_train_epochs = row.epochs});
    SCOPED_TRACE(::testing::Message() << row.batches << " batches, G " << row.accumulation << ", epochs "
                                      << row.epochs);
    EXPECT_EQ(made.batches_per_epoch, row.batches);
    EXPECT_EQ(made.updates_per_epoch, row.updates_per_epoch);
    EXPECT_EQ(made.max_steps, row.max_steps);
    EXPECT_EQ(made.epochs, row.begun_epochs);
  }
}

TEST(Plan, MaxStepsWinsOverEpochs) {
  const Plan made =
      plan({.batches_per_epoch = 5, .gradient_accumulation_steps = 2, .num_train_epochs = 3, .max_steps = 10});
  EXPECT_EQ(made.max_steps, 10);
  EXPECT_EQ(made.epochs, 4);  // 3 + 3 + 3 + 1
}

TEST(Plan, MaxStepsOfZeroOrLessLeavesTheEpochs) {
  EXPECT_EQ(plan({.batches_per_epoch = 5, .num_train_epochs = 2, .max_steps = 0}).max_steps, 10);
  EXPECT_EQ(plan({.batches_per_epoch = 5, .num_train_epochs = 2, .max_steps = -1}).max_steps, 10);
}

TEST(Plan, StreamHasUpdatesButNoEpochs) {
  const Plan made = plan({.gradient_accumulation_steps = 2, .max_steps = 4});
  EXPECT_EQ(made.max_steps, 4);
  EXPECT_EQ(made.epochs, 0);
  EXPECT_EQ(made.updates_per_epoch, std::nullopt);
  EXPECT_EQ(made.batches_per_epoch, std::nullopt);
}

TEST(Plan, WarmupIsACountOrAnExactPart) {
  struct Row {
    double given;
    int64_t max_steps, warmup;
  };
  const std::vector<Row> rows{
      {0, 100, 0},     {0.07, 100, 7},   {0.071, 100, 8},
      {0.1, 10, 1},    {0.1, 11, 2},     {0.14, 50, 7},
      {0.28, 25, 7},   {0.57, 100, 57},  {0.58, 100, 58},
      {0.29, 100, 29}, {0.03, 1000, 30}, {0.55, 100, 55},
      {0.999, 10, 10}, {1e-12, 100, 1},  {1, 100, 1},
      {7, 100, 7},     {7.9, 100, 7},    {200, 100, 200},
      {1.0 / 3, 3, 1}, {2.0 / 3, 3, 2},  {0.1, 1000000000, 100000000},
  };
  for (const Row& row : rows) {
    const Plan made = plan({.batches_per_epoch = 5, .max_steps = row.max_steps, .warmup_steps = row.given});
    EXPECT_EQ(made.warmup_steps, row.warmup) << row.given << " of " << row.max_steps;
  }
}

TEST(Plan, EveryPerMilleOfAThousandIsItself) {
  for (int64_t k = 1; k < 1000; ++k) {
    const double fraction = static_cast<double>(k) / 1000;
    EXPECT_EQ(plan({.max_steps = 1000, .warmup_steps = fraction}).warmup_steps, k);
  }
}

TEST(Plan, IntervalsAreCountsOrPartsOfTheRun) {
  const Plan parts = plan({.max_steps = 100, .logging_steps = 0.07, .eval_steps = 0.255, .save_steps = 0.001});
  EXPECT_EQ(parts.logging_steps, 7);
  EXPECT_EQ(parts.eval_steps, 26);
  EXPECT_EQ(parts.save_steps, 1);
  const Plan counts = plan({.max_steps = 100, .logging_steps = 1, .eval_steps = 20, .save_steps = 300});
  EXPECT_EQ(counts.logging_steps, 1);
  EXPECT_EQ(counts.eval_steps, 20);
  EXPECT_EQ(counts.save_steps, 300);
}

TEST(Plan, DefaultIntervalsAreThoseOfThePythonTrainer) {
  const Plan made = plan({.max_steps = 4});
  EXPECT_EQ(made.logging_steps, 500);
  EXPECT_EQ(made.eval_steps, 500);
  EXPECT_EQ(made.save_steps, 500);
  EXPECT_EQ(made.warmup_steps, 0);
}

TEST(Plan, RefusesWrongIntervalsByName) {
  const std::string allowed =
      ": it must be a whole number of updates of 1 or more, or a part of max_steps above 0 and below 1";
  EXPECT_EQ(error_of({.max_steps = 4, .logging_steps = 0}), "logging_steps is 0" + allowed);
  EXPECT_EQ(error_of({.max_steps = 4, .eval_steps = -1}), "eval_steps is -1" + allowed);
  EXPECT_EQ(error_of({.max_steps = 4, .save_steps = 2.5}), "save_steps is 2.5" + allowed);
  EXPECT_EQ(error_of({.max_steps = 4, .save_steps = std::numeric_limits<double>::quiet_NaN()}),
            "save_steps is nan" + allowed);
}

TEST(Plan, RefusesWrongWarmup) {
  const std::string allowed = ": it must be a number of updates of 1 or more, or a part of max_steps from 0 to below 1";
  EXPECT_EQ(error_of({.max_steps = 4, .warmup_steps = -0.1}), "warmup_steps is -0.1" + allowed);
  EXPECT_EQ(error_of({.max_steps = 4, .warmup_steps = std::numeric_limits<double>::infinity()}),
            "warmup_steps is inf" + allowed);
}

TEST(Plan, RefusesAStreamWithoutMaxSteps) {
  EXPECT_EQ(error_of({}),
            "max_steps is -1: training data without a length needs the number of updates; set max_steps to 1 or more");
}

TEST(Plan, RefusesWrongLengths) {
  EXPECT_EQ(error_of({.batches_per_epoch = 3, .gradient_accumulation_steps = 0}),
            "gradient_accumulation_steps is 0: it must be 1 or more; 1 turns accumulation off");
  EXPECT_EQ(error_of({.batches_per_epoch = 0}),
            "the training data has 0 batches an epoch: it must have 1 or more; give more examples, or lower "
            "per_device_train_batch_size or unset dataloader_drop_last");
  EXPECT_EQ(error_of({.batches_per_epoch = 3, .num_train_epochs = 0}),
            "num_train_epochs is 0: it must be above 0 and give at most 2^53 updates; or set max_steps instead");
  EXPECT_EQ(error_of({.batches_per_epoch = 3, .num_train_epochs = 1e300}),
            "num_train_epochs is 1e+300: it must be above 0 and give at most 2^53 updates; or set max_steps instead");
}

TEST(ReportedEpoch, IsWholeEpochsPlusThePartOfThisOne) {
  EXPECT_EQ(reported_epoch(0, 0, 5), 0.0);
  EXPECT_EQ(reported_epoch(0, 2, 5), 0.4);
  EXPECT_EQ(reported_epoch(1, 4, 5), 1.8);
  EXPECT_EQ(reported_epoch(1, 5, 5), 2.0);
  EXPECT_EQ(reported_epoch(2, 0, 5), 2.0);
}

TEST(ReportedEpoch, OfAStreamCountsItsRestarts) {
  EXPECT_EQ(reported_epoch(0, 7, std::nullopt), 0.0);
  EXPECT_EQ(reported_epoch(2, 7, std::nullopt), 2.0);
  EXPECT_EQ(reported_epoch(2, 2, 4 * 2), 2.25);  // 4 updates of 2 micro-batches
}

}  // namespace
}  // namespace lope
