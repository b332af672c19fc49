#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>
#include <lope/loader.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "support/error_of.h"
#include "support/loader_data.h"

namespace lope {
namespace {

using namespace lope::testing;

/// Example i is i long, but for those of `unknown` or more.
struct Lengths : Dataset {
  explicit Lengths(int64_t examples, int64_t first_unknown = std::numeric_limits<int64_t>::max())
      : count(examples), unknown(first_unknown) {}
  int64_t size() const override { return count; }
  Batch get(int64_t index) const override { return {{"id", at::full({}, index, at::kLong)}}; }
  std::optional<int64_t> length(int64_t index) const override {
    return index < unknown ? std::optional(index) : std::nullopt;
  }
  int64_t count;
  int64_t unknown;
};

constexpr auto kByLength = SamplingStrategy::kGroupByLength;

TEST(GroupByLength, TheLongestExampleComesFirstAndNoneIsLost) {
  const Lengths data(1000);
  Loader loader(data, {.batch_size = 8, .sampling_strategy = kByLength});
  Ids ids = ids_left(loader);
  EXPECT_EQ(ids.front(), 999);
  std::ranges::sort(ids);
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(ids[static_cast<size_t>(i)], i);
}

/// Positions filled up when each micro-batch is padded to its longest example.
int64_t padding(Loader& loader) {
  int64_t filled = 0;
  for (const Ids& ids : batches_left(loader)) {
    for (const int64_t id : ids) filled += *std::ranges::max_element(ids) - id;
  }
  return filled;
}

TEST(GroupByLength, PadsATenthOfWhatARandomOrderDoes) {
  const Lengths data(1000);
  Loader grouped(data, {.batch_size = 8, .sampling_strategy = kByLength});
  Loader random(data, {.batch_size = 8});
  EXPECT_LT(padding(grouped) * 10, padding(random));
}

TEST(GroupByLength, StretchesOfFiftyBatchesAreSortedButForTheFirstExample) {
  const Lengths data(2000);
  Loader loader(data, {.batch_size = 4, .sampling_strategy = kByLength});
  const Ids ids = ids_left(loader);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.begin() + 200, std::greater{}));
  EXPECT_FALSE(std::is_sorted(ids.begin(), ids.begin() + 201, std::greater{}));
}

TEST(GroupByLength, EachEpochAndSeedHasItsOwnOrder) {
  const Lengths data(100);
  Loader loader(data, {.batch_size = 2, .seed = 1, .sampling_strategy = kByLength});
  Loader other(data, {.batch_size = 2, .seed = 2, .sampling_strategy = kByLength});
  const Ids first = epoch_order(loader, 0);
  EXPECT_NE(first, epoch_order(loader, 1));
  EXPECT_NE(first, epoch_order(other, 0));
  EXPECT_EQ(first, epoch_order(loader, 0));
}

TEST(GroupByLength, ADataSetThatKnowsNoLengthsIsRefused) {
  const auto numbers_only = numbers(4);
  const std::string rest =
      " is not known, and the order is by lengths: override Dataset::length, or choose random or sequential sampling";
  EXPECT_EQ(error_of([&] { Loader(numbers_only, {.sampling_strategy = kByLength}); }),
            "data set: the length of example 0" + rest);
  const Lengths data(10, 7);
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, {.sampling_strategy = kByLength, .num_workers = workers});
    EXPECT_EQ(error_of([&] { loader.next(); }), "data set: the length of example 7" + rest);
  }
}

TEST(WeightedSampling, DrawsAsOftenAsTheWeightsSay) {
  const auto data = numbers(4);
  std::map<int64_t, int> drawn;
  Loader loader(data, {.batch_size = 4, .sampling_strategy = SamplingStrategy::kWeighted, .weights = {0, 3, 1, 0}});
  for (int64_t epoch = 0; epoch < 1000; ++epoch) {
    for (const int64_t id : epoch_order(loader, epoch)) ++drawn[id];
  }
  EXPECT_FALSE(drawn.contains(0));
  EXPECT_FALSE(drawn.contains(3));
  EXPECT_NEAR(drawn[1], 3000, 110);  // four standard deviations
  EXPECT_EQ(drawn[1] + drawn[2], 4000);
}

TEST(WeightedSampling, IsAFunctionOfSeedAndEpoch) {
  const auto data = numbers(50);
  const LoaderOptions options{.sampling_strategy = SamplingStrategy::kWeighted, .weights = std::vector(50, 1.0)};
  Loader loader(data, options);
  Loader again(data, options);
  EXPECT_EQ(epoch_order(loader, 3), epoch_order(again, 3));
  EXPECT_NE(epoch_order(loader, 3), epoch_order(loader, 4));
}

TEST(WeightedSampling, WeightsThatMakeNoSenseAreRefused) {
  const auto data = numbers(2);
  const auto refusal = [&](std::vector<double> weights) {
    return error_of(
        [&] { Loader(data, {.sampling_strategy = SamplingStrategy::kWeighted, .weights = std::move(weights)}); });
  };
  EXPECT_EQ(refusal({1}), "loader: there are 1 weights for 2 examples: give one for each");
  EXPECT_EQ(refusal({1, -2}), "loader: the weight of example 1 is -2: it must be 0 or more and finite");
  EXPECT_EQ(refusal({std::numeric_limits<double>::quiet_NaN(), 1}),
            "loader: the weight of example 0 is nan: it must be 0 or more and finite");
  EXPECT_EQ(refusal({0, 0}), "loader: the weights add up to 0: at least one must be above 0, and their sum finite");
  EXPECT_EQ(error_of([&] { Loader(data, {.weights = {1, 1}}); }),
            "loader: there are weights, but the order is not weighted: set sampling_strategy to kWeighted");
}

/// What each of `ranks` hands out in the first epoch.
std::vector<Ids> shards(const Dataset& data, LoaderOptions options, int64_t ranks) {
  std::vector<Ids> all;
  options.world_size = ranks;
  for (options.rank = 0; options.rank < ranks; ++options.rank) {
    Loader loader(data, options);
    all.push_back(ids_left(loader));
    EXPECT_EQ(loader.examples_per_epoch(), static_cast<int64_t>(all.back().size()));
  }
  return all;
}

TEST(Shards, FillTheLastRoundFromTheStartOfTheOrder) {
  const auto data = numbers(7);
  const LoaderOptions options{.batch_size = 2, .sampling_strategy = SamplingStrategy::kSequential};
  EXPECT_EQ(shards(data, options, 3), (std::vector<Ids>{{0, 3, 6}, {1, 4, 0}, {2, 5, 1}}));
  EXPECT_EQ(shards(numbers(2), options, 5), (std::vector<Ids>{{0}, {1}, {0}, {1}, {0}}));
}

TEST(Shards, LeaveOutWhatNotAllGetWithDropLast) {
  const LoaderOptions options{.batch_size = 2, .sampling_strategy = SamplingStrategy::kSequential, .drop_last = true};
  EXPECT_EQ(shards(numbers(11), options, 2), (std::vector<Ids>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  const auto few = numbers(5);
  EXPECT_EQ(error_of([&] { Loader(few, {.batch_size = 2, .drop_last = true, .world_size = 3}); }),
            "data set: its 5 examples are fewer than batch_size 2 on each of 3 ranks and drop_last leaves them out: "
            "lower the batch size or turn drop_last off");
}

TEST(Shards, TogetherHaveEveryExampleOnce) {
  const Lengths data(120);
  for (const auto strategy : {SamplingStrategy::kRandom, kByLength}) {
    std::multiset<int64_t> all;
    for (const Ids& ids : shards(data, {.batch_size = 4, .sampling_strategy = strategy}, 4)) {
      EXPECT_EQ(ids.size(), 30U);
      all.insert(ids.begin(), ids.end());
    }
    for (int64_t i = 0; i < 120; ++i) EXPECT_EQ(all.count(i), 1U) << i;
  }
}

TEST(Shards, RanksThatAreNotThereAreRefused) {
  const auto data = numbers(2);
  const Counter stream;
  EXPECT_EQ(error_of([&] { Loader(data, {.rank = 2, .world_size = 2}); }),
            "rank is 2: it must be 0 or more and below world_size 2");
  EXPECT_EQ(error_of([&] { Loader(data, {.world_size = 0}); }), "world_size is 0: it must be 1 or more");
  EXPECT_EQ(error_of([&] { Loader(stream, {.world_size = 2}); }),
            "loader: a stream is not shared out among ranks: let each rank's stream give its own examples, and set "
            "world_size to 1");
}

TEST(StreamSampling, AStreamCannotBeSortedOrWeighted) {
  const Counter stream;
  EXPECT_EQ(error_of([&] { Loader(stream, {.sampling_strategy = kByLength}); }),
            "loader: a stream has its own order: choose random or sequential sampling, or give a Dataset");
}

/// Adds noise to training's examples.
struct Noisy : Dataset {
  int64_t size() const override { return 30; }
  Batch get(int64_t index) const override { return {{"id", at::full({}, index, at::kLong)}, {"x", at::full({}, 0.0)}}; }
  bool augments() const override { return true; }
  Batch get_augmented(int64_t index, at::Generator generator) const override {
    Batch example = get(index);
    example.set("x", at::rand({}, generator, at::TensorOptions(at::kFloat)));
    return example;
  }
};

std::map<int64_t, float> noise(Loader& loader, LoaderPosition from) {
  std::map<int64_t, float> noises;
  loader.seek(from);
  while (const auto batch = loader.next()) {
    for (int64_t i = 0; i < batch->rows(); ++i) {
      noises[(*batch)["id"][i].item<int64_t>()] = (*batch)["x"][i].item<float>();
    }
  }
  return noises;
}

TEST(Augmentation, IsAFunctionOfSeedEpochAndIndex) {
  const Noisy data;
  Loader alone(data, {.batch_size = 4, .augment = true});
  const auto expected = noise(alone, {.epoch = 1});
  for (const int64_t workers : {0, 1, 2, 4}) {
    Loader loader(data, {.batch_size = 7, .augment = true, .num_workers = workers});
    EXPECT_EQ(noise(loader, {.epoch = 1}), expected) << workers << " workers";
    for (const auto& [id, value] : noise(loader, {.epoch = 1, .examples = 14})) EXPECT_EQ(value, expected.at(id));
  }
  std::set<float> values;
  for (const auto& [id, value] : expected) values.insert(value);
  EXPECT_EQ(values.size(), 30U);
  EXPECT_NE(noise(alone, {.epoch = 2}), expected);
  Loader other_seed(data, {.batch_size = 4, .seed = 43, .augment = true});
  EXPECT_NE(noise(other_seed, {.epoch = 1}), expected);
}

TEST(Augmentation, IsOffUnlessAskedFor) {
  const Noisy data;
  Loader loader(data, {.batch_size = 4});
  for (const auto& [id, value] : noise(loader, {})) EXPECT_EQ(value, 0.0F);
}

TEST(Augmentation, LeavesDataSetsWithoutItToTheirFastPath) {
  const auto data = numbers(6);
  Loader loader(data, {.batch_size = 4, .sampling_strategy = SamplingStrategy::kSequential, .augment = true});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{0, 1, 2, 3}, {4, 5}}));
}

}  // namespace
}  // namespace lope
