#include "lope/dataset_views.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

/// Rows first, first + 1 … in the tensor "y".
TensorDataset numbers(int64_t first, int64_t count) { return TensorDataset({{"y", at::arange(first, first + count)}}); }

/// No fast path, a length, and an augmentation that adds a number below 1000 drawn from the generator.
struct Words : Dataset {
  explicit Words(int64_t first) : first_(first) {}
  int64_t size() const override { return 3; }
  Batch get(int64_t index) const override { return {{"y", at::full({}, first_ + index, at::kLong)}}; }
  bool augments() const override { return true; }
  Batch get_augmented(int64_t index, at::Generator generator) const override {
    return {{"y", get(index)["y"] + at::randint(1000, {}, generator, at::kLong)}};
  }
  std::optional<int64_t> length(int64_t index) const override { return 10 * index; }

 private:
  int64_t first_;
};

at::Generator seeded() { return at::detail::createCPUGenerator(7); }
int64_t first_draw() { return at::randint(1000, {}, seeded(), at::kLong).item<int64_t>(); }

int64_t value(const Batch& example) { return example["y"].item<int64_t>(); }

std::vector<int64_t> values(const Dataset& data) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < data.size(); ++i) all.push_back(value(data.get(i)));
  return all;
}

at::Tensor longs(const std::vector<int64_t>& all) { return at::tensor(all, at::kLong); }

Batch doubled(const Batch& example) { return {{"y", example["y"] * 2}}; }

TEST(ConcatDataset, HasTheExamplesOfAllPartsInOrder) {
  const auto a = numbers(0, 2);
  const auto empty = numbers(0, 0);
  const auto b = numbers(10, 3);
  EXPECT_EQ(values(ConcatDataset({a, empty, b})), (std::vector<int64_t>{0, 1, 10, 11, 12}));
}

TEST(ConcatDataset, ABatchAcrossPartsKeepsTheOrderThatWasAskedFor) {
  const auto a = numbers(0, 2);
  const auto b = numbers(10, 3);
  const ConcatDataset both({a, b});
  EXPECT_TRUE((*both.get_batch(std::vector<int64_t>{4, 0, 2, 1, 4}))["y"].equal(longs({12, 0, 10, 1, 12})));
  EXPECT_TRUE((*both.get_batch(std::vector<int64_t>{3, 2}))["y"].equal(longs({11, 10})));
}

TEST(ConcatDataset, HasNoFastPathAcrossPartsThatDoNotFit) {
  const auto a = numbers(0, 2);
  const Words words(10);
  const TensorDataset wide({{"y", at::arange(4).reshape({2, 2})}});
  const TensorDataset other({{"x", at::arange(2)}});
  for (const Dataset* second : std::initializer_list<const Dataset*>{&words, &wide, &other}) {
    const ConcatDataset both({a, *second});
    EXPECT_FALSE(both.get_batch(std::vector<int64_t>{0, 2}).has_value());
    EXPECT_TRUE(both.get_batch(std::vector<int64_t>{0, 1}).has_value());
  }
}

TEST(ConcatDataset, PassesLengthsAndAugmentationOn) {
  const auto a = numbers(0, 2);
  const Words words(10);
  const ConcatDataset both({a, words});
  EXPECT_TRUE(both.augments());
  EXPECT_FALSE(ConcatDataset({a}).augments());
  EXPECT_EQ(both.length(1), std::nullopt);
  EXPECT_EQ(both.length(4), 20);
  EXPECT_EQ(value(both.get_augmented(1, seeded())), 1);
  EXPECT_EQ(value(both.get_augmented(4, seeded())), 12 + first_draw());
}

TEST(ConcatDataset, NeedsAPart) {
  EXPECT_EQ(error_of([] { ConcatDataset({}); }), "concatenation: there is no data set: give at least one");
}

TEST(SubsetDataset, HasTheGivenExamplesInTheGivenOrder) {
  const auto data = numbers(10, 5);
  const SubsetDataset some(data, std::vector<int64_t>{4, 0, 4});
  EXPECT_EQ(values(some), (std::vector<int64_t>{14, 10, 14}));
  EXPECT_TRUE((*some.get_batch(std::vector<int64_t>{1, 0}))["y"].equal(longs({10, 14})));
}

TEST(SubsetDataset, ARangeTakesEveryStepth) {
  const auto data = numbers(10, 5);
  EXPECT_EQ(values(SubsetDataset::range(data, 0, 5, 2)), (std::vector<int64_t>{10, 12, 14}));
  EXPECT_EQ(values(SubsetDataset::range(data, 3, 5)), (std::vector<int64_t>{13, 14}));
  EXPECT_EQ(SubsetDataset::range(data, 2, 2).size(), 0);
}

TEST(SubsetDataset, PassesLengthsAndAugmentationOn) {
  const Words words(10);
  const SubsetDataset some(words, std::vector<int64_t>{2});
  EXPECT_TRUE(some.augments());
  EXPECT_EQ(some.length(0), 20);
  EXPECT_EQ(value(some.get_augmented(0, seeded())), 12 + first_draw());
}

TEST(SubsetDataset, ExamplesThatAreNotThereAreRefused) {
  const auto data = numbers(10, 5);
  EXPECT_EQ(error_of([&] { SubsetDataset(data, std::vector<int64_t>{0, 5}); }),
            "subset: there is no example 5: the data set has 5");
  EXPECT_EQ(error_of([&] { SubsetDataset(data, std::vector<int64_t>{-1}); }),
            "subset: there is no example -1: the data set has 5");
  EXPECT_EQ(error_of([&] { SubsetDataset::range(data, 3, 6); }),
            "subset: the range [3, 6) is not within the data set's [0, 5)");
  EXPECT_EQ(error_of([&] { SubsetDataset::range(data, 0, 5, 0); }), "subset: step is 0: it must be 1 or more");
}

TEST(MapDataset, GivesWhatTheFunctionMakesOfEachExample) {
  const auto data = numbers(1, 3);
  const MapDataset twice(data, doubled);
  EXPECT_EQ(values(twice), (std::vector<int64_t>{2, 4, 6}));
  EXPECT_FALSE(twice.get_batch(std::vector<int64_t>{0}).has_value());
  EXPECT_FALSE(twice.augments());
}

TEST(MapDataset, TheFunctionComesAfterTheAugmentation) {
  const Words words(10);
  const MapDataset twice(words, doubled);
  EXPECT_TRUE(twice.augments());
  EXPECT_EQ(twice.length(2), 20);
  EXPECT_EQ(value(twice.get_augmented(1, seeded())), 2 * (11 + first_draw()));
}

TEST(AugmentedDataset, OnlyTrainingSeesTheRandomFunction) {
  const auto data = numbers(0, 3);
  const AugmentedDataset noisy(data, [](const Batch& example, const at::Generator& generator) -> Batch {
    return {{"y", example["y"] + at::randint(1000, {}, generator, at::kLong)}};
  });
  EXPECT_TRUE(noisy.augments());
  EXPECT_EQ(values(noisy), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE((*noisy.get_batch(std::vector<int64_t>{2, 1}))["y"].equal(longs({2, 1})));
  EXPECT_EQ(value(noisy.get_augmented(2, seeded())), 2 + first_draw());
}

TEST(AugmentedDataset, AugmentationsDrawOneAfterTheOtherFromOneGenerator) {
  const Words words(0);
  const AugmentedDataset noisy(words, [](const Batch& example, const at::Generator& generator) -> Batch {
    return {{"y", example["y"] * 1000 + at::randint(1000, {}, generator, at::kLong)}};
  });
  at::Generator generator = seeded();
  const int64_t first = at::randint(1000, {}, generator, at::kLong).item<int64_t>();
  const int64_t second = at::randint(1000, {}, generator, at::kLong).item<int64_t>();
  EXPECT_EQ(value(noisy.get_augmented(0, seeded())), first * 1000 + second);
}

}  // namespace
}  // namespace lope
