#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <lope/optimizers.h>
#include <lope/stepper.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"
#include "support/toy.h"

namespace lope {
namespace {

using testing::constant_rate;
using testing::error_of;
using testing::ones;
using testing::targets;
using testing::Toy;
using testing::window;

/// The toy with gradient descent of rate 0.1 and without clipping.
class StepperOnDevice : public testing::DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) toy.model.to(device());
  }

  Stepper make(const StepperOptions& options = {.max_grad_norm = 0.0}) { return make(toy.loss(), options); }
  Stepper make(LossFunction loss, const StepperOptions& options = {.max_grad_norm = 0.0}) {
    return {toy.model, optimizer(), std::move(loss), constant_rate(0.1), options};
  }

  SGD& optimizer() {
    if (sgd == nullptr) sgd = std::make_unique<SGD>(parameter_groups(toy.model, 0.0));
    return *sgd;
  }

  /// w after each window of so many micro-batches of one row.
  std::vector<double> weights_after(Stepper& stepper, const std::vector<int64_t>& micro_batches) {
    std::vector<double> weights;
    for (const int64_t count : micro_batches) {
      stepper.step(ones(count));
      weights.push_back(toy.w());
    }
    return weights;
  }

  Toy toy;
  std::unique_ptr<SGD> sgd;
};

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << "number " << i;
}

TEST_P(StepperOnDevice, UnevenMicroBatchesEqualOneBigBatch) {
  Stepper stepper = make();
  const StepValues values = stepper.step(window({{1, 1, 1}, {5}})).read();
  EXPECT_NEAR(values.grad_norm, 2.0, 1e-6);
  EXPECT_EQ(values.items, 4.0);
  EXPECT_NEAR(values.loss, 0.5 * (1 + 1 + 1 + 25) / 4, 1e-6);
  EXPECT_NEAR(toy.w(), 0.2, 1e-7);
}

TEST_P(StepperOnDevice, BothFormsAreTheSame) {
  Stepper stepper = make();
  stepper.accumulate(targets({1, 1, 1}));
  EXPECT_EQ(stepper.window_size(), 1);
  stepper.accumulate(targets({5}));
  EXPECT_EQ(stepper.window_size(), 2);
  stepper.update();
  EXPECT_EQ(stepper.window_size(), 0);
  EXPECT_NEAR(toy.w(), 0.2, 1e-7);
}

// Five micro-batches with windows of four.
TEST_P(StepperOnDevice, AShorterLastWindowIsAMeanOverWhatItHas) {
  Stepper stepper = make();
  expect_near(weights_after(stepper, {4, 1}), {0.1, 0.19});
}

// Three examples, windows of two, two epochs.
TEST_P(StepperOnDevice, WindowsOfAnySizeDescendAlike) {
  Stepper stepper = make();
  expect_near(weights_after(stepper, {2, 1, 2, 1}), {0.1, 0.19, 0.271, 0.3439});
}

TEST_P(StepperOnDevice, NothingOfAWindowLeaksIntoTheNext) {
  Stepper stepper = make();
  std::vector<double> norms;
  for (const int64_t count : {2, 1, 2, 1}) norms.push_back(stepper.step(ones(count)).read().grad_norm);
  expect_near(norms, {1, 0.9, 0.81, 0.729});
}

TEST_P(StepperOnDevice, ALossThatIsAMeanGivesTheMeanOfTheWindow) {
  Stepper stepper = make(toy.mean_loss());
  EXPECT_NEAR(stepper.step(ones(4)).read().grad_norm, 1.0, 1e-6);
  EXPECT_NEAR(toy.w(), 0.1, 1e-7);
}

TEST_P(StepperOnDevice, AConstantLossIsReportedAsItIs) {
  Stepper stepper = make([this](const Batch&) -> Loss { return {toy.module->w.sum() * 0.0 + 2.0 * 3, 3}; });
  EXPECT_EQ(stepper.step(ones(4)).read().loss, 2.0);
  const StepTotals totals = stepper.take_totals();
  EXPECT_EQ(totals.loss_sum, 2.0);
  EXPECT_EQ(totals.windows, 1);
}

TEST_P(StepperOnDevice, AWindowInWhichNothingCountsChangesNothing) {
  bool counts = false;
  Stepper stepper = make([&](const Batch& batch) -> Loss {
    const Loss loss = toy.loss()(batch);
    return {loss.sum * (counts ? 1.0 : 0.0), {at::full({}, counts ? 1 : 0, loss.sum.options().dtype(at::kLong)), 1}};
  });
  const StepValues values = stepper.step(ones(2)).read();
  EXPECT_EQ(toy.w(), 0.0);
  EXPECT_EQ(values.loss, 0.0);
  EXPECT_EQ(values.items, 0.0);
  EXPECT_TRUE(values.skipped);
  EXPECT_FALSE(values.nonfinite);
  counts = true;
  stepper.step(ones(2));
  EXPECT_NEAR(toy.w(), 0.1, 1e-7);
  const StepTotals totals = stepper.take_totals();
  EXPECT_EQ(totals.windows, 1);
  EXPECT_EQ(totals.applied, 1);
  EXPECT_EQ(totals.skipped, 1);
  EXPECT_EQ(totals.nonfinite, 0);
}

TEST_P(StepperOnDevice, AnEvaluationInsideAWindowChangesNothing) {
  Stepper stepper = make();
  stepper.accumulate(targets({1, 1, 1}));
  {
    const at::NoGradGuard no_grad;
    toy.loss()(targets({100}).to(device()));
  }
  stepper.accumulate(targets({5}));
  stepper.update();
  EXPECT_NEAR(toy.w(), 0.2, 1e-7);
}

TEST_P(StepperOnDevice, CountsOnTheDeviceAndOnTheHostAreTheSame) {
  Stepper stepper = make([this](const Batch& batch) -> Loss {
    const Loss loss = toy.loss()(batch);
    return {loss.sum, {at::full({}, batch.rows(), loss.sum.options().dtype(at::kLong)), 100}};
  });
  const StepValues values = stepper.step(window({{1, 1, 1}, {5}})).read();
  EXPECT_NEAR(values.grad_norm, 2.0, 1e-6);
  EXPECT_EQ(values.items, 4.0);
}

TEST_P(StepperOnDevice, TheExpectedSizeOfAWindowCancelsOut) {
  std::vector<double> weights;
  for (const int64_t expected : {1, 4, 1000}) {
    Toy own(device());
    SGD descent(parameter_groups(own.model, 0.0));
    Stepper stepper(own.model, descent, own.loss(), constant_rate(0.1),
                    {.max_grad_norm = 0.0, .expected_micro_batches = expected});
    for (int i = 0; i < 5; ++i) stepper.step(window({{1, 2, 3}, {4}}));
    weights.push_back(own.w());
  }
  EXPECT_NEAR(weights[0], weights[1], 1e-6);
  EXPECT_NEAR(weights[0], weights[2], 1e-6);
}

TEST_P(StepperOnDevice, AHintOfTheWindowsItemsCancelsOut) {
  Stepper stepper = make();
  for (const int64_t hint : {4, 1000, 1}) {
    toy.module->w.detach().zero_();
    stepper.expect_items(hint);
    EXPECT_NEAR(stepper.step(window({{1, 1, 1}, {5}})).read().grad_norm, 2.0, 1e-6) << hint;
    EXPECT_NEAR(toy.w(), 0.2, 1e-7) << hint;
  }
}

TEST_P(StepperOnDevice, AHintSizesTheGradientsOfOneWindow) {
  Stepper stepper = make();
  stepper.expect_items(8);
  stepper.accumulate(targets({1, 1, 1}));
  EXPECT_NEAR(toy.module->w.grad().item<double>(), -3.0 / 8.0, 1e-7);
  stepper.discard();
  stepper.accumulate(targets({1, 1, 1}));
  EXPECT_NEAR(toy.module->w.grad().item<double>(), -1.0, 1e-7);
}

TEST_P(StepperOnDevice, ADiscardedWindowLeavesNoTrace) {
  Stepper stepper = make();
  stepper.accumulate(targets({100}));
  stepper.discard();
  EXPECT_EQ(stepper.window_size(), 0);
  stepper.step(window({{1, 1, 1}, {5}}));
  EXPECT_NEAR(toy.w(), 0.2, 1e-7);
}

TEST_P(StepperOnDevice, AFailingLossLeavesTheWindowAsItWas) {
  bool fail = false;
  Stepper stepper = make([&](const Batch& batch) {
    if (fail) throw std::runtime_error("bad picture");
    return toy.loss()(batch);
  });
  stepper.accumulate(targets({1, 1, 1}));
  fail = true;
  EXPECT_THROW(stepper.accumulate(targets({100})), std::runtime_error);
  fail = false;
  EXPECT_EQ(stepper.window_size(), 1);
  stepper.accumulate(targets({5}));
  stepper.update();
  EXPECT_NEAR(toy.w(), 0.2, 1e-7);
}

TEST_P(StepperOnDevice, TheRateIsAFunctionOfAppliedUpdates) {
  Stepper stepper(toy.model, optimizer(), toy.loss(), [](int64_t step) { return step == 1 ? 0.0 : 0.1; },
                  {.max_grad_norm = 0.0});
  expect_near(weights_after(stepper, {1, 1, 1}), {0.1, 0.1, 0.19});
  EXPECT_NEAR(stepper.take_totals().last.learning_rate, 0.1, 1e-7);
  stepper.set_learning_rate(constant_rate(1.0));
  expect_near(weights_after(stepper, {1}), {1.0});
}

TEST_P(StepperOnDevice, TotalsAreTakenOnceAndCountsGoOn) {
  Stepper stepper = make();
  stepper.step(ones(1));
  stepper.step(ones(1));
  StepTotals totals = stepper.take_totals();
  EXPECT_NEAR(totals.loss_sum, 0.5 + 0.405, 1e-6);
  EXPECT_EQ(totals.windows, 2);
  EXPECT_EQ(totals.applied, 2);
  EXPECT_NEAR(totals.last.loss, 0.405, 1e-6);
  stepper.step(ones(1));
  totals = stepper.take_totals();
  EXPECT_NEAR(totals.loss_sum, 0.5 * 0.81 * 0.81, 1e-6);
  EXPECT_EQ(totals.windows, 1);
  EXPECT_EQ(totals.applied, 3);
}

INSTANTIATE_TEST_SUITE_P(Devices, StepperOnDevice, testing::every_device(), testing::device_name);

TEST(Stepper, LabelSmoothingHasTheSameGradientForEveryWayToCutTheBatch) {
  at::manual_seed(3);
  torch::nn::Linear linear(5, 7);
  Model model(linear);
  const Batch all{{"x", at::randn({8, 5})}, {"y", at::randint(7, {8}, at::kLong)}};
  const LossFunction loss = [&](const Batch& batch) {
    return cross_entropy(linear->forward(batch["x"]), batch["y"], {.label_smoothing = 0.1});
  };
  SGD optimizer(parameter_groups(model, 0.0));
  Stepper stepper(model, optimizer, loss, constant_rate(0.0), {.max_grad_norm = 0.0});
  std::vector<Batch> rows;
  for (int64_t row = 0; row < 8; ++row) rows.push_back(all.slice(row, 1));
  const double together = stepper.step(std::vector{all}).read().grad_norm;
  EXPECT_GT(together, 0.01);
  EXPECT_NEAR(stepper.step(rows).read().grad_norm, together, 1e-5 * together);
}

TEST(Stepper, TheFirstTokenCountsNothing) {
  // Twenty-four labels, of which nothing predicts the first: the mean is over 23.
  torch::nn::Linear linear(torch::nn::LinearOptions(1, 5).bias(false));
  {
    const at::NoGradGuard no_grad;
    linear->weight.zero_();
  }
  Model model(linear);
  SGD optimizer(parameter_groups(model, 0.0));
  const LossFunction loss = [&](const Batch& batch) { return causal_lm_loss(linear->forward(batch["x"]), batch["y"]); };
  Stepper stepper(model, optimizer, loss, constant_rate(0.1));
  const std::vector<Batch> window{{{"x", at::ones({1, 24, 1})}, {"y", at::ones({1, 24}, at::kLong)}}};
  const StepValues values = stepper.step(window).read();
  EXPECT_EQ(values.items, 23.0);
  EXPECT_NEAR(values.loss, std::log(5.0), 1e-6);
}

TEST(Stepper, ParametersThatAreNotTheOptimizersLoseTheirGradientsToo) {
  torch::nn::Linear linear(1, 1);
  Model model(linear);
  SGD optimizer({{.parameters = {model.parameters()[0]}}});
  Stepper stepper(
      model, optimizer, [&](const Batch& batch) { return linear->forward(batch["x"]).mean(); }, constant_rate(0.1));
  stepper.step(std::vector<Batch>{{{"x", at::ones({1, 1})}}});
  EXPECT_FALSE(linear->bias.grad().defined());
}

TEST(Stepper, ParametersThatAreNotTheModelsAreTrainedAndLoseTheirGradientsToo) {
  Toy toy;
  Toy other;
  std::vector<ParameterGroup> groups = parameter_groups(toy.model, 0.0);
  groups.front().parameters.push_back({"other", other.module->w});
  SGD optimizer(groups);
  const LossFunction loss = [&](const Batch& batch) -> Loss {
    return {toy.loss()(batch).sum + other.loss()(batch).sum, batch.rows()};
  };
  Stepper stepper(toy.model, optimizer, loss, constant_rate(0.1), {.max_grad_norm = 0.0});
  stepper.step(ones(1));
  EXPECT_NEAR(other.w(), 0.1, 1e-7);
  EXPECT_FALSE(other.module->w.grad().defined());
}

TEST(Stepper, GradientsAreRecordedUnderANoGradGuardToo) {
  Toy toy;
  SGD optimizer(parameter_groups(toy.model, 0.0));
  Stepper stepper(toy.model, optimizer, toy.loss(), constant_rate(0.1));
  const at::NoGradGuard no_grad;
  stepper.step(ones(1));
  EXPECT_NEAR(toy.w(), 0.1, 1e-7);
}

TEST(Stepper, AnEmptyReportSaysWhereToTakeOne) {
  EXPECT_EQ(error_of([] { StepReport().read(); }),
            "step report: it is empty: take it from Stepper::update or Stepper::step");
}

TEST(Stepper, AnEmptyWindowIsAnError) {
  Toy toy;
  SGD optimizer(parameter_groups(toy.model, 0.0));
  Stepper stepper(toy.model, optimizer, toy.loss(), constant_rate(0.1));
  EXPECT_EQ(error_of([&] { stepper.step({}); }), "stepper: the window is empty: give at least one micro-batch");
  EXPECT_EQ(error_of([&] { stepper.update(); }),
            "stepper: the window is empty: call accumulate at least once before update");
}

TEST(Stepper, ALossWithoutAGradientIsAnError) {
  Toy toy;
  SGD optimizer(parameter_groups(toy.model, 0.0));
  Stepper stepper(toy.model, optimizer, [](const Batch& batch) { return batch["y"].mean(); }, constant_rate(0.1));
  EXPECT_EQ(error_of([&] { stepper.accumulate(targets({1})); }),
            "loss function: its sum has no gradient: make it from the model's parameters, without NoGradGuard");
}

TEST(Stepper, WrongOptionsAreRefusedBeforeTheFirstStep) {
  Toy toy;
  SGD optimizer(parameter_groups(toy.model, 0.0));
  const auto refusal = [&](const StepperOptions& options) {
    return error_of([&] { Stepper(toy.model, optimizer, toy.loss(), constant_rate(0.1), options); });
  };
  EXPECT_EQ(refusal({.max_grad_norm = -1.0}), "max_grad_norm is -1: it must be 0 (no clipping) or more");
  EXPECT_EQ(refusal({.max_grad_norm = std::nan("")}), "max_grad_norm is nan: it must be 0 (no clipping) or more");
  EXPECT_EQ(refusal({.max_grad_value = -1.0}), "max_grad_value is -1: it must be 0 (no clipping) or more");
  EXPECT_EQ(refusal({.expected_micro_batches = 0}), "expected_micro_batches is 0: it must be 1 or more");
  EXPECT_EQ(error_of([&] { Stepper(toy.model, optimizer, {}, constant_rate(0.1)); }),
            "stepper: there is no loss function: give a closure from a batch to its loss");
  EXPECT_EQ(error_of([&] { Stepper(toy.model, optimizer, toy.loss(), {}); }),
            "stepper: there is no learning rate: give a function of the update's number");
}

}  // namespace
}  // namespace lope
