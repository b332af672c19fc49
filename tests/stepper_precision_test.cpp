// Half precision, clipping, and gradients that are not finite.
#include <ATen/Context.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <lope/optimizers.h>
#include <lope/stepper.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/device_test.h"
#include "support/optimizer_kinds.h"
#include "support/slopes.h"
#include "support/toy.h"

namespace lope {
namespace {

using testing::constant_rate;
using testing::kTooSteep;
using testing::slope;
using testing::Slopes;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class StepperPrecision : public testing::DeviceTest {
 protected:
  static StepReport step(Stepper& stepper, double ga, double gb = 0.0) {
    return stepper.step(std::vector{slope(ga, gb)});
  }
};

TEST_P(StepperPrecision, TheScaleFallsOnOverflowAndRisesAfterTheInterval) {
  Slopes slopes(device());
  SGD optimizer(parameter_groups(slopes.model, 0.0));
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1),
                  {.precision = Precision::kFp16, .max_grad_norm = 0.0, .scaler = {.growth_interval = 2}});
  const std::vector<double> gradients{kTooSteep, 1, 1, 1};
  const std::vector<double> scales{32768, 32768, 65536, 65536};
  const std::vector<double> weights{0, -0.1, -0.2, -0.3};
  for (size_t i = 0; i < gradients.size(); ++i) {
    step(stepper, gradients[i]);
    EXPECT_EQ(stepper.scaler()->scale().item<double>(), scales[i]) << "window " << i;
    EXPECT_NEAR(slopes.a(), weights[i], 1e-6) << "window " << i;
  }
}

TEST_P(StepperPrecision, AnOverflowLeavesEveryOptimizerAsItWas) {
  for (const auto& kind : testing::optimizer_kinds()) {
    Slopes slopes(device());
    const auto optimizer = kind.make(parameter_groups(slopes.model, 0.1));
    Stepper stepper(slopes.model, *optimizer, slopes.loss(),
                    [](int64_t step) { return 0.1 * static_cast<double>(step + 1); }, {.precision = Precision::kFp16});
    slopes.module->a.detach().fill_(0.3);
    const at::Tensor before = slopes.module->a.detach().clone();
    const StepValues overflow = step(stepper, kTooSteep).read();
    EXPECT_TRUE(overflow.skipped && overflow.nonfinite) << kind.name;
    EXPECT_TRUE(slopes.module->a.equal(before)) << kind.name;
    for (const auto& [name, tensor] : optimizer->state()) EXPECT_EQ(tensor.count_nonzero().item<int64_t>(), 0) << name;
    EXPECT_EQ(stepper.scaler()->scale().item<double>(), 32768.0) << kind.name;

    const StepValues fine = step(stepper, 1.0).read();
    EXPECT_NEAR(fine.learning_rate, 0.1, 1e-7) << kind.name;
    EXPECT_FALSE(slopes.module->a.equal(before)) << kind.name;
    const StepTotals totals = stepper.take_totals();
    EXPECT_EQ(totals.applied, 1) << kind.name;
    EXPECT_EQ(totals.skipped, 1) << kind.name;
    EXPECT_EQ(totals.nonfinite, 1) << kind.name;
    EXPECT_EQ(totals.nonfinite_run, 0) << kind.name;
  }
}

TEST_P(StepperPrecision, AWindowInWhichNothingCountsIsNoOverflow) {
  Slopes slopes(device());
  SGD optimizer(parameter_groups(slopes.model, 0.0));
  const LossFunction nothing = [&](const Batch& batch) -> Loss { return {slopes.loss()(batch).sum * 0.0, 0}; };
  Stepper stepper(slopes.model, optimizer, nothing, constant_rate(0.1), {.precision = Precision::kFp16});
  EXPECT_TRUE(step(stepper, 1.0).read().skipped);
  EXPECT_EQ(stepper.scaler()->scale().item<double>(), 65536.0);
}

TEST_P(StepperPrecision, TwoGroupsAreUnscaledOnce) {
  Slopes slopes(device());
  SGD optimizer(slopes.two_groups());
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1),
                  {.precision = Precision::kFp16, .max_grad_norm = 0.0});
  step(stepper, 1.0, 2.0);
  EXPECT_NEAR(slopes.a(), -0.1, 1e-7);
  EXPECT_NEAR(slopes.b(), -0.2, 1e-7);
}

TEST_P(StepperPrecision, AnOverflowInEitherGroupSkipsBoth) {
  for (const bool first : {true, false}) {
    Slopes slopes(device());
    SGD optimizer(slopes.two_groups());
    Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1), {.precision = Precision::kFp16});
    step(stepper, first ? kTooSteep : 1.0, first ? 1.0 : kTooSteep);
    EXPECT_EQ(slopes.a(), 0.0);
    EXPECT_EQ(slopes.b(), 0.0);
  }
}

TEST_P(StepperPrecision, ClippingSeesTrueGradientsWhateverTheScale) {
  for (const auto precision : {Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
    Slopes slopes(device());
    SGD optimizer(slopes.two_groups());
    Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(1.0),
                    {.precision = precision, .max_grad_norm = 1.0});
    const StepValues values = step(stepper, 3.0, 4.0).read();
    EXPECT_NEAR(values.grad_norm, 5.0, 1e-5);
    EXPECT_NEAR(slopes.a(), -0.6, 1e-6);
    EXPECT_NEAR(slopes.b(), -0.8, 1e-6);
  }
}

TEST_P(StepperPrecision, TheNormIsReportedWithClippingOffToo) {
  Slopes slopes(device());
  SGD optimizer(parameter_groups(slopes.model, 0.0));
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(1.0),
                  {.precision = Precision::kFp16, .max_grad_norm = 0.0});
  EXPECT_NEAR(step(stepper, 3.0, 4.0).read().grad_norm, 5.0, 1e-5);
  EXPECT_NEAR(slopes.b(), -4.0, 1e-5);
}

TEST_P(StepperPrecision, ClippingByValueIsOfTheMeanGradientAndComesBeforeTheNorm) {
  for (const auto precision : {Precision::kFp32, Precision::kFp16}) {
    Slopes slopes(device());
    SGD optimizer(parameter_groups(slopes.model, 0.0));
    Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(1.0),
                    {.precision = precision, .max_grad_norm = 0.0, .max_grad_value = 3.5});
    // Two micro-batches whose mean is (3, 4).
    const StepValues values = stepper.step(std::vector{slope(2, 8), slope(4, 0)}).read();
    EXPECT_NEAR(values.grad_norm, 5.0, 1e-5);
    EXPECT_NEAR(slopes.a(), -3.0, 1e-5);
    EXPECT_NEAR(slopes.b(), -3.5, 1e-5);
  }
}

TEST_P(StepperPrecision, ClippingByValueThenByNorm) {
  Slopes slopes(device());
  SGD optimizer(parameter_groups(slopes.model, 0.0));
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(1.0),
                  {.max_grad_norm = 1.0, .max_grad_value = 3.0});
  EXPECT_NEAR(step(stepper, 3.0, 4.0).read().grad_norm, 5.0, 1e-5);
  EXPECT_NEAR(slopes.a(), -std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(slopes.b(), -std::sqrt(0.5), 1e-5);
}

TEST_P(StepperPrecision, ANanGradientNeverReachesTheWeightsAndIsSeen) {
  for (const auto precision : {Precision::kFp32, Precision::kBf16}) {
    Slopes slopes(device());
    AdamW optimizer(parameter_groups(slopes.model, 0.1));
    Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1), {.precision = precision});
    step(stepper, 1.0);
    const double healthy = slopes.a();
    const StepValues values = step(stepper, kNan).read();
    step(stepper, kNan);
    EXPECT_EQ(slopes.a(), healthy);
    EXPECT_TRUE(values.nonfinite);
    EXPECT_TRUE(std::isnan(values.loss));
    EXPECT_TRUE(std::isnan(values.grad_norm));
    StepTotals totals = stepper.take_totals();
    EXPECT_TRUE(std::isnan(totals.loss_sum));
    EXPECT_EQ(totals.windows, 3);
    EXPECT_EQ(totals.nonfinite, 2);
    EXPECT_EQ(totals.nonfinite_run, 2);
    step(stepper, 1.0);
    EXPECT_EQ(stepper.take_totals().nonfinite_run, 0);
    EXPECT_NE(slopes.a(), healthy);
  }
}

TEST_P(StepperPrecision, AnInfiniteGradientInOneMicroBatchSkipsItsWindowOnly) {
  Slopes slopes(device());
  SGD optimizer(parameter_groups(slopes.model, 0.0));
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1), {.max_grad_norm = 0.0});
  stepper.step(std::vector{slope(1), slope(std::numeric_limits<double>::infinity())});
  EXPECT_EQ(slopes.a(), 0.0);
  step(stepper, 1.0);
  EXPECT_NEAR(slopes.a(), -0.1, 1e-7);
}

/// A layer that autocast really computes in 16 bits learns y = x₀ − x₁, in every precision.
TEST_P(StepperPrecision, EveryPrecisionLearns) {
  for (const auto precision : {Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
    at::manual_seed(5);
    torch::nn::Linear linear(2, 1);
    Model model(linear);
    model.to(device());
    AdamW optimizer(parameter_groups(model, 0.0));
    const LossFunction loss = [&](const Batch& batch) {
      const at::Tensor x = batch["x"];
      return lope::mse_loss(linear->forward(x).squeeze(1), x.select(1, 0) - x.select(1, 1));
    };
    Stepper stepper(model, optimizer, loss, constant_rate(0.05), {.precision = precision, .expected_micro_batches = 2});
    double last = 1.0;
    for (int i = 0; i < 200; ++i) {
      const std::vector<Batch> window{{{"x", at::randn({8, 2})}}, {{"x", at::randn({5, 2})}}};
      last = stepper.step(window).read().loss;
    }
    EXPECT_LT(last, 1e-3) << static_cast<int>(precision);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, StepperPrecision, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace lope
