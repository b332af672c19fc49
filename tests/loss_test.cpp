#include <ATen/Context.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/loss.h>

#include <cmath>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }
at::Tensor floats(const std::vector<double>& values) { return at::tensor(values, at::kFloat); }

double sum_of(const Loss& loss) { return loss.sum.item<double>(); }

int64_t count_of(const Loss& loss) {
  return loss.count.on_host() ? loss.count.at_most() : loss.count.tensor().item<int64_t>();
}

class LossOnDevice : public testing::DeviceTest {};

TEST_P(LossOnDevice, CrossEntropyOfEqualLogitsIsTheLogOfTheClasses) {
  const Loss loss = cross_entropy(at::zeros({2, 4}).to(device()), longs({0, 3}).to(device()));
  EXPECT_NEAR(sum_of(loss), 2 * std::log(4.0), 1e-6);
  EXPECT_EQ(count_of(loss), 2);
  EXPECT_EQ(loss.count.at_most(), 2);
}

TEST_P(LossOnDevice, IgnoredTargetsCountNothing) {
  const at::Tensor logits = at::zeros({3, 4}).to(device());
  const Loss loss = cross_entropy(logits, longs({-100, 1, -100}).to(device()));
  EXPECT_NEAR(sum_of(loss), std::log(4.0), 1e-6);
  EXPECT_EQ(count_of(loss), 1);
  EXPECT_EQ(loss.count.at_most(), 3);
  EXPECT_EQ(count_of(cross_entropy(logits, longs({0, 1, 0}).to(device()), {.ignore_index = 0})), 1);
}

TEST_P(LossOnDevice, NothingButIgnoredTargetsIsASumOfZeroWithAGradientOfZero) {
  for (const double smoothing : {0.0, 0.1}) {
    const at::Tensor logits = at::randn({2, 4}).to(device()).requires_grad_();
    const Loss loss = cross_entropy(logits, longs({-100, -100}).to(device()), {.label_smoothing = smoothing});
    EXPECT_EQ(sum_of(loss), 0.0);
    EXPECT_EQ(count_of(loss), 0);
    loss.sum.backward();
    EXPECT_EQ(logits.grad().abs().sum().item<double>(), 0.0);
  }
}

TEST_P(LossOnDevice, CausalLmPredictsEachLabelFromThePositionBefore) {
  // Position 0 is sure of class 1, position 1 of class 2; the last one predicts nothing.
  at::Tensor logits = at::zeros({1, 3, 3});
  logits[0][0][1] = 100.0;
  logits[0][1][2] = 100.0;
  logits[0][2][0] = 100.0;
  const auto loss_of = [&](const std::vector<int64_t>& labels) {
    return causal_lm_loss(logits.to(device()), longs(labels).reshape({1, 3}).to(device()));
  };
  EXPECT_NEAR(sum_of(loss_of({0, 1, 2})), 0.0, 1e-6);
  EXPECT_EQ(count_of(loss_of({0, 1, 2})), 2);
  EXPECT_NEAR(sum_of(loss_of({0, 2, 2})), 100.0, 1e-4);
  EXPECT_EQ(count_of(loss_of({0, -100, 2})), 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, LossOnDevice, testing::every_device(), testing::device_name);

TEST(Loss, LabelSmoothingMixesTheTargetWithTheUniformDistribution) {
  at::manual_seed(1);
  constexpr double kEpsilon = 0.1;
  const at::Tensor logits = at::randn({5, 7});
  const at::Tensor targets = at::randint(7, {5}, at::kLong);
  const at::Tensor log_p = at::log_softmax(logits, 1);
  const at::Tensor picked = log_p.gather(1, targets.unsqueeze(1)).squeeze(1);
  const double expected =
      -(1.0 - kEpsilon) * picked.sum().item<double>() - kEpsilon * log_p.mean(1).sum().item<double>();
  EXPECT_NEAR(sum_of(cross_entropy(logits, targets, {.label_smoothing = kEpsilon})), expected, 1e-5);
}

TEST(Loss, CrossEntropyTakesTargetsOfAnyShape) {
  const Loss loss = cross_entropy(at::zeros({2, 3, 5}), at::zeros({2, 3}, at::kLong));
  EXPECT_NEAR(sum_of(loss), 6 * std::log(5.0), 1e-5);
  EXPECT_EQ(loss.predictions.sizes(), (std::vector<int64_t>{2, 3, 5}));
}

TEST(Loss, MseIsTheSumOfSquaresOverAllElements) {
  const Loss loss = mse_loss(floats({1, 2, 3}), floats({1, 0, 0}));
  EXPECT_DOUBLE_EQ(sum_of(loss), 13.0);
  EXPECT_EQ(count_of(loss), 3);
  EXPECT_TRUE(loss.count.on_host());
}

TEST(Loss, BinaryCrossEntropyOfAnUndecidedLogitIsLogTwo) {
  const Loss loss = binary_cross_entropy_with_logits(floats({0, 0}), floats({0, 1}));
  EXPECT_NEAR(sum_of(loss), 2 * std::log(2.0), 1e-6);
  EXPECT_EQ(count_of(loss), 2);
  EXPECT_NEAR(sum_of(binary_cross_entropy_with_logits(floats({2}), floats({0.25}))), std::log1p(std::exp(2.0)) - 0.5,
              1e-6);
}

TEST(Loss, ShapesThatDoNotFitAreRefused) {
  EXPECT_EQ(error_of([] { mse_loss(at::ones({2, 1}), at::ones({2})); }),
            "mse_loss: predictions have shape (2, 1) and targets (2): they must be equal");
  EXPECT_EQ(error_of([] { binary_cross_entropy_with_logits(at::ones({2}), at::ones({3})); }),
            "binary_cross_entropy_with_logits: predictions have shape (2) and targets (3): they must be equal");
  EXPECT_EQ(
      error_of([] { cross_entropy(at::ones({2, 3}), at::ones({3}, at::kLong)); }),
      "cross_entropy: logits have shape (2, 3) and targets (3): logits need the shape of the targets and one more "
      "dimension for the classes");
  EXPECT_EQ(
      error_of([] { causal_lm_loss(at::ones({2, 3}), at::ones({2, 3}, at::kLong)); }),
      "causal_lm_loss: logits have shape (2, 3) and labels (2, 3): they must be (rows, length, classes) and (rows, "
      "length)");
}

TEST(Loss, CausalLmItemsAreCountedOnTheHostAsTheLossCountsThem) {
  const at::Tensor labels = longs({7, -100, 2, 3, 5, 6, -100, -100}).reshape({2, 4});
  const Loss loss = causal_lm_loss(at::zeros({2, 4, 8}), labels);
  EXPECT_EQ(count_of(loss), 3);
  EXPECT_EQ(causal_lm_items(labels), 3);
  EXPECT_EQ(causal_lm_items(labels, 2), 5);
  EXPECT_EQ(loss.count.at_most(), 6);
}

TEST(Loss, LabelSmoothingOutsideItsRangeIsRefused) {
  EXPECT_EQ(error_of([] { cross_entropy(at::ones({1, 2}), longs({0}), {.label_smoothing = 1.0}); }),
            "label_smoothing is 1: it must be 0 or more and below 1");
}

TEST(LossFunction, AMeanCountsTheRowsOfTheBatch) {
  const LossFunction function = [](const Batch& batch) { return batch["y"].mean(); };
  const Loss loss = function({{"y", floats({1, 2, 6})}});
  EXPECT_DOUBLE_EQ(sum_of(loss), 9.0);
  EXPECT_EQ(count_of(loss), 3);
}

TEST(LossFunction, AMeanInHalfPrecisionIsSummedInSingle) {
  const LossFunction function = [](const Batch& batch) { return batch["y"].mean().to(at::kHalf); };
  const Loss loss = function({{"y", at::full({8192}, 10.0)}});
  EXPECT_DOUBLE_EQ(sum_of(loss), 81920.0);
}

TEST(LossFunction, WhatIsNotOneNumberIsRefused) {
  const LossFunction vector = [](const Batch& batch) { return batch["y"]; };
  const LossFunction nothing = [](const Batch&) { return at::Tensor(); };
  const LossFunction whole = [](const Batch& batch) -> Loss { return {batch["y"].sum().to(at::kLong), 1}; };
  const Batch batch{{"y", floats({1, 2})}};
  EXPECT_EQ(error_of([&] { vector(batch); }),
            "loss function: it gave a tensor of shape (2): it must give one floating-point number, a mean or Loss{sum, "
            "count}");
  EXPECT_EQ(error_of([&] { nothing(batch); }),
            "loss function: it gave nothing: it must give one floating-point number, a mean or Loss{sum, count}");
  EXPECT_EQ(error_of([&] { whole(batch); }),
            "loss function: it gave a tensor of shape (): it must give one floating-point number, a mean or Loss{sum, "
            "count}");
}

}  // namespace
}  // namespace lope
