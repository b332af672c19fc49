#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/autocast.h>
#include <lope/optimizers.h>
#include <lope/stepper.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <stdexcept>

#include "support/device_test.h"
#include "support/toy.h"

namespace lope {
namespace {

int nesting() {
  const int inside = at::autocast::increment_nesting();
  at::autocast::decrement_nesting();
  return inside - 1;
}

/// One weight w = 0 in a linear layer, which autocast computes in 16 bits. The loss is (w − 1)².
class AutocastOnDevice : public testing::DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    at::NoGradGuard no_grad;
    linear->weight.zero_();
    model.to(device());
  }

  /// at::linear takes the weight itself, whose cast autocast keeps; torch::nn::Linear takes a view of it, which it does
  /// not.
  at::Tensor forward(const Batch& batch) { return at::linear(batch["x"], linear->weight); }
  Batch one() const { return {{"x", at::ones({1, 1}).to(device())}}; }
  at::Tensor loss(const Batch& batch) { return (forward(batch) - at::ones({1, 1}).to(device())).square().mean(); }

  torch::nn::Linear linear{torch::nn::LinearOptions(1, 1).bias(false)};
  Model model{linear};
  SGD optimizer{parameter_groups(model, 0.0)};
};

TEST_P(AutocastOnDevice, ChangedWeightsAreCastAnew) {
  Stepper stepper(model, optimizer, [&](const Batch& batch) { return loss(batch); }, testing::constant_rate(0.1),
                  {.precision = Precision::kBf16, .max_grad_norm = 0.0});
  constexpr std::array kExpected{1.0, 0.6397, 0.4104, 0.2619};
  for (const double expected : kExpected) EXPECT_NEAR(stepper.step(std::vector{one()}).read().loss, expected, 5e-5);
}

TEST_P(AutocastOnDevice, ComputesInTheTypeAskedFor) {
  const auto type_in = [&](Precision precision) {
    const Autocast autocast(device().type(), precision);
    return forward(one()).scalar_type();
  };
  EXPECT_EQ(type_in(Precision::kFp32), at::kFloat);
  EXPECT_EQ(type_in(Precision::kBf16), at::kBFloat16);
  EXPECT_EQ(type_in(Precision::kFp16), at::kHalf);
  EXPECT_EQ(forward(one()).scalar_type(), at::kFloat);
}

TEST_P(AutocastOnDevice, AnInnerGuardPutsTheOuterOnesSettingsBack) {
  const Autocast outer(device().type(), Precision::kBf16);
  {
    const Autocast inner(device().type(), Precision::kFp32);
    EXPECT_EQ(forward(one()).scalar_type(), at::kFloat);
    const Autocast innermost(device().type(), Precision::kFp16);
    EXPECT_EQ(forward(one()).scalar_type(), at::kHalf);
  }
  EXPECT_EQ(forward(one()).scalar_type(), at::kBFloat16);
  EXPECT_EQ(nesting(), 1);
}

TEST_P(AutocastOnDevice, AnExceptionInsideForwardLeavesNothingBehind) {
  const bool enabled = at::autocast::is_autocast_enabled(device().type());
  bool fail = true;
  Stepper stepper(model, optimizer,
                  [&](const Batch& batch) {
                    at::Tensor value = loss(batch);
                    if (fail) throw std::runtime_error("forward failed");
                    return value;
                  },
                  testing::constant_rate(0.1), {.precision = Precision::kBf16});
  EXPECT_THROW(stepper.accumulate(one()), std::runtime_error);
  EXPECT_EQ(nesting(), 0);
  EXPECT_EQ(at::autocast::is_autocast_enabled(device().type()), enabled);

  // An old cast of the weight in the cache would still give 1.
  {
    const at::NoGradGuard no_grad;
    linear->weight.fill_(1.0);
  }
  fail = false;
  EXPECT_EQ(stepper.step(std::vector{one()}).read().loss, 0.0);
}

TEST_P(AutocastOnDevice, AnEvaluationInsideTrainingLeavesGradientsWhole) {
  const Autocast training(device().type(), Precision::kBf16);
  {
    const at::NoGradGuard no_grad;
    const Autocast evaluation(device().type(), Precision::kBf16);
    forward(one());
  }
  loss(one()).backward();
  ASSERT_TRUE(linear->weight.grad().defined());
  EXPECT_EQ(linear->weight.grad().item<double>(), -2.0);
}

TEST_P(AutocastOnDevice, ALossThatAlsoLooksWithoutGradientsTrains) {
  Stepper stepper(model, optimizer,
                  [&](const Batch& batch) {
                    {
                      const at::NoGradGuard no_grad;
                      forward(batch);
                    }
                    return loss(batch);
                  },
                  testing::constant_rate(0.1), {.precision = Precision::kBf16, .max_grad_norm = 0.0});
  EXPECT_EQ(stepper.step(std::vector{one()}).read().grad_norm, 2.0);
}

INSTANTIATE_TEST_SUITE_P(Devices, AutocastOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace lope
