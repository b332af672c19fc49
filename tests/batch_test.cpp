#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/batch.h>

#include <string>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

Batch two_tensors() { return {{"input_ids", at::arange(6).reshape({3, 2})}, {"labels", at::arange(3)}}; }

TEST(Batch, GivesTensorsByName) {
  const Batch batch = two_tensors();
  EXPECT_EQ(batch["labels"].sizes(), (std::vector<int64_t>{3}));
  EXPECT_TRUE(batch.contains("input_ids"));
  EXPECT_FALSE(batch.contains("ids"));
}

TEST(Batch, KeepsTheOrderInWhichTensorsWereGiven) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : Batch{{"z", at::ones({1})}, {"a", at::ones({1})}}) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"z", "a"}));
}

TEST(Batch, MissingNameIsAnErrorThatListsTheNamesThereAre) {
  EXPECT_EQ(error_of([] { two_tensors()["ids"]; }),
            "batch: there is no \"ids\": it has \"input_ids\", \"labels\"; check the names that the data set gives");
  EXPECT_EQ(error_of([] { Batch()["ids"]; }),
            "batch: there is no \"ids\": it has nothing; check the names that the data set gives");
}

TEST(Batch, ANameGivenTwiceIsAnError) {
  EXPECT_EQ(error_of([] { Batch{{"x", at::ones({1})}, {"x", at::ones({1})}}; }),
            "batch: \"x\" is given twice: give each tensor its own name");
}

TEST(Batch, SetAddsOrReplaces) {
  Batch batch = two_tensors();
  batch.set("labels", at::ones({3}));
  batch.set("mask", at::zeros({3}));
  EXPECT_EQ(batch.size(), 3U);
  EXPECT_EQ(batch["labels"].sum().item<double>(), 3.0);
}

TEST(Batch, CountsRowsOfTheFirstTensorAndTokensOfInputIds) {
  EXPECT_EQ(two_tensors().rows(), 3);
  EXPECT_EQ(two_tensors().tokens(), 6);
  EXPECT_EQ((Batch{{"x", at::ones({4, 7})}}.tokens()), 4);
  EXPECT_EQ((Batch{{"x", at::ones({})}}.rows()), 0);
  EXPECT_EQ(Batch().rows(), 0);
}

TEST(Batch, SliceIsAViewOfTheRows) {
  const Batch batch = two_tensors();
  const Batch part = batch.slice(1, 2);
  EXPECT_EQ(part.rows(), 2);
  EXPECT_EQ(part["labels"][0].item<int64_t>(), 1);
  EXPECT_EQ(part["labels"].storage().data(), batch["labels"].storage().data());
}

TEST(Batch, PinnedWithoutCudaIsTheBatchItself) {
  if (at::globalContext().hasCUDA()) GTEST_SKIP() << "this machine has a CUDA device";
  const Batch batch = two_tensors();
  EXPECT_TRUE(batch.pin()["labels"].is_same(batch["labels"]));
}

class BatchOnDevice : public testing::DeviceTest {};

TEST_P(BatchOnDevice, MovesEveryTensorOnceAndKeepsTheValues) {
  const Batch moved = two_tensors().pin().to(device());
  EXPECT_TRUE(moved.is_on(device()));
  EXPECT_EQ(moved["labels"].device().type(), device().type());
  EXPECT_EQ(moved["labels"].sum().item<int64_t>(), 3);
  EXPECT_TRUE(moved.to(device())["labels"].is_same(moved["labels"]));
}

INSTANTIATE_TEST_SUITE_P(Devices, BatchOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace lope
