#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <lope/error.h>
#include <lope/loader.h>
#include <lope/seed.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/error_of.h"
#include "support/loader_data.h"

namespace lope {
namespace {

using namespace lope::testing;

TEST(Loader, VisitsEveryExampleOnceAnEpochInANewOrderEachTime) {
  const auto data = numbers(20);
  Loader loader(data, {.batch_size = 3});
  std::set<Ids> orders;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    Ids order = epoch_order(loader, epoch);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    Ids expected(20);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
  }
  EXPECT_EQ(orders.size(), 4U);
}

TEST(Loader, OrderIsAFunctionOfSeedAndEpochAlone) {
  const auto data = numbers(20);
  Loader first(data, {.batch_size = 3, .seed = 7});
  Loader second(data, {.batch_size = 5, .seed = 7});
  Loader other(data, {.batch_size = 3, .seed = 8});
  const Ids third_epoch = epoch_order(first, 2);
  epoch_order(first, 0);
  EXPECT_EQ(epoch_order(first, 2), third_epoch);
  EXPECT_EQ(epoch_order(second, 2), third_epoch);
  EXPECT_NE(epoch_order(other, 2), third_epoch);
}

TEST(Loader, NeitherUsesNorMovesTheGlobalGenerator) {
  const auto data = numbers(20);
  const auto state = [] { return at::globalContext().defaultGenerator(at::kCPU).get_state(); };
  set_seed(1);
  const at::Tensor before = state();
  Loader loader(data, {.batch_size = 3});
  const Ids order = epoch_order(loader, 0);
  EXPECT_TRUE(state().equal(before));
  set_seed(2);
  Loader again(data, {.batch_size = 3});
  EXPECT_EQ(epoch_order(again, 0), order);
}

TEST(Loader, SequentialOrderIsAsStored) {
  const auto data = numbers(5);
  Loader loader(data, {.batch_size = 2, .sampling_strategy = SamplingStrategy::kSequential});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{0, 1}, {2, 3}, {4}}));
  loader.seek({.epoch = 1});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{0, 1}, {2, 3}, {4}}));
}

TEST(Loader, TheLastMicroBatchIsShorterOrLeftOut) {
  const auto data = numbers(9);
  Loader all(data, {.batch_size = 2});
  EXPECT_EQ(all.batches_per_epoch(), 5);
  EXPECT_EQ(all.examples_per_epoch(), 9);
  EXPECT_EQ(batches_left(all).back().size(), 1U);

  Loader full(data, {.batch_size = 2, .drop_last = true});
  EXPECT_EQ(full.batches_per_epoch(), 4);
  EXPECT_EQ(full.examples_per_epoch(), 8);
  EXPECT_EQ(ids_left(full).size(), 8U);
}

TEST(Loader, StaysAtTheEndOfItsEpochUntilItIsMoved) {
  const auto data = numbers(2);
  Loader loader(data, {.batch_size = 2});
  EXPECT_TRUE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  loader.seek({.epoch = 1});
  EXPECT_TRUE(loader.next().has_value());
}

TEST(Loader, ContinuesInTheMiddleAsIfItHadNeverStopped) {
  const auto data = numbers(20);
  Loader loader(data, {.batch_size = 3});
  loader.seek({.epoch = 5});
  loader.next();
  loader.next();
  const LoaderPosition position = loader.position();
  EXPECT_EQ(position, (LoaderPosition{.epoch = 5, .examples = 6}));
  const auto rest = batches_left(loader);

  Loader resumed(data, {.batch_size = 3});
  resumed.seek(position);
  EXPECT_EQ(resumed.position(), position);
  EXPECT_EQ(batches_left(resumed), rest);
}

TEST(Loader, AChangedBatchSizeGoesOnAtTheSameExample) {
  const auto data = numbers(20);
  Loader loader(data, {.batch_size = 4});
  loader.next();
  const LoaderPosition position = loader.position();
  const Ids rest = ids_left(loader);
  Loader resumed(data, {.batch_size = 7});
  resumed.seek(position);
  EXPECT_EQ(ids_left(resumed), rest);
}

TEST(Loader, SingleExamplesAreCollated) {
  const SingleExamples data;
  Loader loader(data, {.batch_size = 4, .sampling_strategy = SamplingStrategy::kSequential});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{0, 1, 2, 3}, {4, 5}}));
}

TEST(Loader, AFailingExampleIsNamedAndTheLoaderGoesOn) {
  SingleExamples data;
  data.broken = true;
  Loader loader(data, {.batch_size = 2, .sampling_strategy = SamplingStrategy::kSequential});
  loader.next();
  EXPECT_EQ(error_of([&] { loader.next(); }), "data set: example 3: no such picture");
  EXPECT_EQ(loader.position().examples, 2);
  data.broken = false;
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{2, 3}, {4, 5}}));
}

TEST(Loader, AFailingBatchIsNamedToo) {
  struct Broken : Dataset {
    int64_t size() const override { return 4; }
    Batch get(int64_t /*index*/) const override { return {}; }
    std::optional<Batch> get_batch(std::span<const int64_t> /*indices*/) const override {
      throw std::runtime_error("file cut short");
    }
  };
  const Broken data;
  Loader loader(data, {.batch_size = 3, .sampling_strategy = SamplingStrategy::kSequential});
  EXPECT_EQ(error_of([&] { loader.next(); }), "data set: examples 0, 1, 2: file cut short");
}

TEST(Loader, ExamplesThatDoNotFitTogetherAreNamedByTheirPlace) {
  struct Growing : Dataset {
    int64_t size() const override { return 4; }
    Batch get(int64_t index) const override { return {{"x", at::ones({index / 2})}}; }
  };
  const Growing data;
  Loader loader(data, {.batch_size = 3, .sampling_strategy = SamplingStrategy::kSequential});
  EXPECT_EQ(
      error_of([&] { loader.next(); }),
      "loader: examples 0 to 2 of epoch 0: collate: \"x\" has shape (0) in one example and (1) in another: make them "
      "equal, or use PadCollator for sequences");
}

TEST(Loader, RefusesWhatCannotBeLoaded) {
  const auto data = numbers(3);
  const auto empty = numbers(0);
  EXPECT_EQ(error_of([&] { Loader(data, {.batch_size = 0}); }), "batch_size is 0: it must be 1 or more");
  EXPECT_EQ(error_of([&] { Loader(empty, {.batch_size = 1}); }), "data set: it is empty: give at least one example");
  EXPECT_EQ(error_of([&] { Loader(data, {.batch_size = 4, .drop_last = true}); }),
            "data set: its 3 examples are fewer than batch_size 4 and drop_last leaves them out: lower the batch size "
            "or turn "
            "drop_last off");
  Loader loader(data, {.batch_size = 1});
  EXPECT_EQ(error_of([&] { loader.seek({.epoch = 1, .examples = 4}); }),
            "loader: there is no example 4 of epoch 1: an epoch has 3");
}

TEST(StreamLoader, ReadsAStreamOfUnknownLengthToItsEnd) {
  const Counter data;
  Loader loader(data, {.batch_size = 2});
  EXPECT_EQ(loader.batches_per_epoch(), std::nullopt);
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{0, 1}, {2, 3}, {4}}));
  loader.seek({.epoch = 1});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{100, 101}, {102, 103}, {104}}));
}

TEST(StreamLoader, DropsAShortLastMicroBatchWhenAsked) {
  const Counter data;
  Loader loader(data, {.batch_size = 2, .drop_last = true});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{0, 1}, {2, 3}}));
}

TEST(StreamLoader, ContinuesInTheMiddle) {
  const Counter data;
  Loader loader(data, {.batch_size = 2});
  loader.seek({.epoch = 3, .examples = 2});
  EXPECT_EQ(loader.position(), (LoaderPosition{.epoch = 3, .examples = 2}));
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{302, 303}, {304}}));
}

TEST(StreamLoader, APositionBehindTheEndIsRefused) {
  const Counter data;
  Loader loader(data, {.batch_size = 2});
  EXPECT_EQ(error_of([&] { loader.seek({.epoch = 0, .examples = 6}); }),
            "loader: the stream of epoch 0 ends after 5 examples: it can't go on at example 6");
}

TEST(StreamLoader, AFailingExampleIsNamedAndNoOtherIsLost) {
  Counter data;
  data.bad = 3;
  Loader loader(data, {.batch_size = 2});
  loader.next();
  EXPECT_EQ(error_of([&] { loader.next(); }), "stream: example 3 of epoch 0: connection lost");
  EXPECT_EQ(loader.position().examples, 2);
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{2, 3}, {4}}));
}

}  // namespace
}  // namespace lope
