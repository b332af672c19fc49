#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <lope/collate.h>

#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

/// An example of `length` tokens, all `value`, whose labels are the same.
Batch tokens(int64_t length, int64_t value) {
  const at::Tensor ids = at::full({length}, value, at::kLong);
  return {{"input_ids", ids}, {"labels", ids}};
}

at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

TEST(StackExamples, AddsABatchDimension) {
  const std::vector<Batch> examples{{{"x", at::ones({2})}, {"y", at::ones({})}},
                                    {{"x", at::ones({2})}, {"y", at::ones({})}}};
  const Batch batch = stack_examples(examples);
  EXPECT_EQ(batch["x"].sizes(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(batch["y"].sizes(), (std::vector<int64_t>{2}));
}

TEST(StackExamples, DifferentShapesAreRefusedWithBoth) {
  const std::vector<Batch> examples{{{"x", at::ones({2, 3})}}, {{"x", at::ones({2, 4})}}};
  EXPECT_EQ(
      error_of([&] { stack_examples(examples); }),
      "collate: \"x\" has shape (2, 3) in one example and (2, 4) in another: make them equal, or use PadCollator for "
      "sequences");
}

TEST(StackExamples, AMissingTensorIsAnError) {
  const std::vector<Batch> examples{{{"x", at::ones({2})}}, {{"y", at::ones({2})}}};
  EXPECT_EQ(error_of([&] { stack_examples(examples); }),
            "batch: there is no \"x\": it has \"y\"; check the names that the data set gives");
}

TEST(StackExamples, NoExampleIsAnError) {
  EXPECT_EQ(error_of([] { stack_examples({}); }), "collate: there is no example: give at least one");
  EXPECT_EQ(error_of([] { PadCollator()({}); }), "collate: there is no example: give at least one");
}

TEST(PadCollator, FillsTheRightEndOfShorterSequences) {
  const std::vector<Batch> examples{tokens(1, 7), tokens(3, 8)};
  const Batch batch = PadCollator()(examples);
  EXPECT_TRUE(batch["input_ids"].equal(longs({7, 0, 0, 8, 8, 8}).reshape({2, 3})));
  EXPECT_TRUE(batch["labels"].equal(longs({7, -100, -100, 8, 8, 8}).reshape({2, 3})));
}

TEST(PadCollator, RoundsLengthsUpToAMultiple) {
  const std::vector<Batch> examples{tokens(1, 7), tokens(5, 8)};
  const PadCollator pad({.pad_to_multiple_of = 4});
  EXPECT_EQ(pad(examples)["input_ids"].sizes(), (std::vector<int64_t>{2, 8}));
  EXPECT_EQ(pad(std::vector<Batch>{tokens(4, 1)})["input_ids"].sizes(), (std::vector<int64_t>{1, 4}));
}

TEST(PadCollator, CanFillTheLeftEnd) {
  const std::vector<Batch> examples{tokens(1, 7), tokens(3, 8)};
  const Batch batch = PadCollator({.pad_to_multiple_of = 4, .side = PaddingSide::kLeft})(examples);
  EXPECT_TRUE(batch["input_ids"].equal(longs({0, 0, 0, 7, 0, 8, 8, 8}).reshape({2, 4})));
  EXPECT_TRUE(batch["labels"].equal(longs({-100, -100, -100, 7, -100, 8, 8, 8}).reshape({2, 4})));
}

TEST(PadCollator, AMaskTellsTheFillingFromTheTokens) {
  const std::vector<Batch> examples{tokens(1, 7), tokens(3, 0)};
  const Batch right = PadCollator({.attention_mask = true})(examples);
  EXPECT_TRUE(right["attention_mask"].equal(longs({1, 0, 0, 1, 1, 1}).reshape({2, 3})));
  const Batch left = PadCollator({.side = PaddingSide::kLeft, .attention_mask = true})(examples);
  EXPECT_TRUE(left["attention_mask"].equal(longs({0, 0, 1, 1, 1, 1}).reshape({2, 3})));
  EXPECT_FALSE(PadCollator()(examples).contains("attention_mask"));
}

TEST(PadCollator, AMaskOfTheExamplesIsKeptAndFilledUp) {
  const std::vector<Batch> examples{{{"input_ids", longs({5, 6})}, {"attention_mask", longs({0, 1})}},
                                    {{"input_ids", longs({5, 6, 7})}, {"attention_mask", longs({1, 1, 1})}}};
  const Batch batch = PadCollator({.attention_mask = true})(examples);
  EXPECT_TRUE(batch["attention_mask"].equal(longs({0, 1, 0, 1, 1, 1}).reshape({2, 3})));
}

TEST(PadCollator, PadsOnlyTheFirstDimensionAndOnlyNamedTensors) {
  const PadCollator pad({.pad_values = {{"frames", 0.5}}});
  const std::vector<Batch> good{{{"frames", at::ones({1, 2})}}, {{"frames", at::ones({2, 2})}}};
  EXPECT_TRUE(pad(good)["frames"][0].equal(at::tensor({1.0F, 1.0F, 0.5F, 0.5F}).reshape({2, 2})));

  const std::vector<Batch> wide{{{"frames", at::ones({1, 2})}}, {{"frames", at::ones({1, 3})}}};
  EXPECT_EQ(error_of([&] { pad(wide); }),
            "collate: \"frames\" can only be padded in dimension 0: the other dimensions must be equal");
  EXPECT_EQ(
      error_of([&] { pad(std::vector<Batch>{tokens(1, 7), tokens(2, 7)}); }),
      "collate: \"input_ids\" has shape (1) in one example and (2) in another: make them equal, or use PadCollator for "
      "sequences");
}

TEST(PadCollator, AMultipleBelowOneIsRefused) {
  EXPECT_EQ(error_of([] { PadCollator({.pad_to_multiple_of = 0}); }), "pad_to_multiple_of is 0: it must be 1 or more");
}

}  // namespace
}  // namespace lope
