#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/torch_optimizer.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/sgd.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"
#include "support/slopes.h"
#include "support/toy.h"

namespace lope {
namespace {

namespace optim = torch::optim;
using testing::constant_rate;
using testing::error_of;
using testing::kTooSteep;
using testing::slope;
using testing::Slopes;

using Groups = std::vector<optim::OptimizerParamGroup>;

std::unique_ptr<optim::AdamW> adamw(const std::vector<at::Tensor>& parameters) {
  return std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions(0.5).weight_decay(0.1));
}

/// Two weights and an AdamW over them, in this order or the other.
struct Adapted {
  explicit Adapted(bool swapped = false, at::Device device = at::kCPU) : slopes(device) {
    const auto tensors =
        swapped ? std::vector{slopes.module->b, slopes.module->a} : std::vector{slopes.module->a, slopes.module->b};
    optimizer = std::make_unique<TorchOptimizer>(adamw(tensors), slopes.model);
  }

  void step(double ga, double gb, double rate = 0.1) {
    slopes.module->a.mutable_grad() = at::full({1}, ga);
    slopes.module->b.mutable_grad() = at::full({1}, gb);
    optimizer->step({.learning_rate = rate});
  }

  Slopes slopes;
  std::unique_ptr<TorchOptimizer> optimizer;
};

class TorchOptimizerOnDevice : public testing::DeviceTest {};

TEST_P(TorchOptimizerOnDevice, TrainsWithAStepperAsTheOriginalWould) {
  Slopes slopes(device());
  TorchOptimizer optimizer(adamw(slopes.module->parameters()), slopes.model);
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1), {.max_grad_norm = 0.0});
  Slopes plain(device());
  auto original = adamw(plain.module->parameters());
  for (const double gradient : {1.0, -2.0, 0.5}) {
    stepper.step(std::vector{slope(gradient, 3), slope(gradient, 5)});
    plain.module->a.mutable_grad() = at::full({1}, gradient).to(device());
    plain.module->b.mutable_grad() = at::full({1}, 4.0).to(device());
    for (auto& group : original->param_groups()) group.options().set_lr(0.1);
    original->step();
  }
  EXPECT_NEAR(slopes.a(), plain.a(), 1e-6);
  EXPECT_NEAR(slopes.b(), plain.b(), 1e-6);
}

TEST_P(TorchOptimizerOnDevice, AnOverflowIsSkippedAndTheScaleDivided) {
  Slopes slopes(device());
  TorchOptimizer optimizer(std::make_unique<optim::SGD>(slopes.module->parameters(), optim::SGDOptions(1.0)),
                           slopes.model);
  Stepper stepper(slopes.model, optimizer, slopes.loss(), constant_rate(0.1),
                  {.precision = Precision::kFp16, .max_grad_norm = 0.0});
  stepper.step(std::vector{slope(kTooSteep)});
  EXPECT_EQ(slopes.a(), 0.0);
  stepper.step(std::vector{slope(1)});
  EXPECT_NEAR(slopes.a(), -0.1, 1e-7);
}

TEST_P(TorchOptimizerOnDevice, GroupsKeepTheRatioOfTheirRates) {
  Slopes slopes(device());
  const auto rate = [](double value) { return std::make_unique<optim::SGDOptions>(value); };
  Groups groups;
  groups.emplace_back(std::vector{slopes.module->a}, rate(0.5));
  groups.emplace_back(std::vector{slopes.module->b}, rate(0.05));
  TorchOptimizer optimizer(std::make_unique<optim::SGD>(groups, optim::SGDOptions(0.5)), slopes.model);
  EXPECT_DOUBLE_EQ(optimizer.groups()[1].lr_scale, 0.1);
  for (const auto& parameter : slopes.model.parameters()) parameter.tensor.mutable_grad() = at::ones({1}).to(device());
  optimizer.step({.learning_rate = LearningRate(at::full({}, 2.0).to(device()))});
  EXPECT_NEAR(slopes.a(), -2.0, 1e-6);
  EXPECT_NEAR(slopes.b(), -0.2, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Devices, TorchOptimizerOnDevice, testing::every_device(), testing::device_name);

TEST(TorchOptimizer, StateGoesByNameWhateverTheOrder) {
  for (const bool swapped : {false, true}) {
    Adapted whole;
    whole.step(1, -2);
    whole.step(3, 1);
    const TensorMap saved = whole.optimizer->state();

    Adapted resumed(swapped);
    resumed.slopes.module->a.detach().copy_(whole.slopes.module->a.detach());
    resumed.slopes.module->b.detach().copy_(whole.slopes.module->b.detach());
    resumed.optimizer->load_state(saved);
    for (auto* run : {&whole, &resumed}) run->step(0.5, 0.25);
    EXPECT_EQ(resumed.slopes.a(), whole.slopes.a());
    EXPECT_EQ(resumed.slopes.b(), whole.slopes.b());
  }
}

TEST(TorchOptimizer, SettingsAreThoseOfTheNewOptimizer) {
  Adapted saved;
  saved.step(1, 1);
  Slopes slopes;
  auto theirs = std::make_unique<optim::AdamW>(slopes.module->parameters(), optim::AdamWOptions(0.5).eps(0.25));
  const auto& options = static_cast<optim::AdamWOptions&>(theirs->param_groups()[0].options());
  TorchOptimizer optimizer(std::move(theirs), slopes.model);
  EXPECT_EQ(options.eps(), 0.25);
  optimizer.load_state(saved.optimizer->state());
  const TensorMap state = optimizer.state();
  Slopes again;
  auto fresh = std::make_unique<optim::AdamW>(again.module->parameters(), optim::AdamWOptions(0.5).eps(0.25));
  const auto* kept = fresh.get();
  TorchOptimizer other(std::move(fresh), again.model);
  other.load_state(state);
  EXPECT_EQ(static_cast<const optim::AdamWOptions&>(kept->param_groups()[0].options()).eps(), 0.25);
}

TEST(TorchOptimizer, ResetMakesItNew) {
  Adapted used;
  used.step(1, 1);
  used.optimizer->reset();
  used.slopes.module->a.detach().zero_();
  Adapted fresh;
  for (auto* run : {&used, &fresh}) run->step(0.5, 0.25);
  EXPECT_EQ(used.slopes.a(), fresh.slopes.a());
}

TEST(TorchOptimizer, AStateOfAnotherKindOrModelIsRefusedAndNothingChanges) {
  Adapted own;
  own.step(1, 2);
  const TensorMap before = own.optimizer->state();
  const auto refusal = [&](const TensorMap& state) { return error_of([&] { own.optimizer->load_state(state); }); };

  Slopes slopes;
  const TorchOptimizer sgd(std::make_unique<optim::SGD>(slopes.module->parameters(), optim::SGDOptions(1.0)),
                           slopes.model);
  EXPECT_EQ(
      refusal(sgd.state()),
      "optimizer state: it is of torch::optim::SGD, expected torch::optim::AdamW: use the optimizer that it was saved "
      "from");

  testing::Toy toy;
  const TorchOptimizer other(adamw(toy.module->parameters()), toy.model);
  EXPECT_EQ(
      refusal(other.state()),
      "optimizer state: it has \"w\", Float (1) in group 0, expected \"a\", Float (1) in group 0: the state belongs to "
      "another optimizer or model");
  EXPECT_EQ(
      refusal({}),
      "optimizer state: it must be \"torch_optimizer.archive\" and \"torch_optimizer.layout\", of bytes, and nothing "
      "else: the state belongs to another optimizer");

  TensorMap damaged = before;
  damaged["torch_optimizer.archive"] = before.at("torch_optimizer.archive").narrow(0, 0, 100);
  EXPECT_TRUE(refusal(damaged).starts_with("optimizer state: \"torch_optimizer.archive\" cannot be read: "))
      << refusal(damaged);

  // One that is whole, but of another kind: found out in the middle of reading.
  TensorMap mixed = before;
  mixed["torch_optimizer.archive"] = sgd.state().at("torch_optimizer.archive");
  EXPECT_TRUE(refusal(mixed).starts_with("optimizer state: \"torch_optimizer.archive\" cannot be read: "))
      << refusal(mixed);

  Adapted twin;
  twin.step(1, 2);
  for (auto* run : {&own, &twin}) run->step(0.5, 0.25);
  EXPECT_EQ(own.slopes.a(), twin.slopes.a());
  EXPECT_EQ(own.slopes.b(), twin.slopes.b());
}

TEST(TorchOptimizer, WhatDoesNotFitTheModelIsRefused) {
  Slopes slopes;
  const auto refusal = [&](std::shared_ptr<optim::Optimizer> optimizer) {
    return error_of([&] { TorchOptimizer(std::move(optimizer), slopes.model); });
  };
  const auto sgd = [](const std::vector<at::Tensor>& tensors) {
    return std::make_shared<optim::SGD>(tensors, optim::SGDOptions(1.0));
  };
  EXPECT_EQ(refusal(nullptr), "torch optimizer: it is null: give an optimizer");
  EXPECT_EQ(
      refusal(sgd({at::ones({2, 3}).requires_grad_()})),
      "torch optimizer: a parameter of shape (2, 3) is not one of the model's: make the optimizer from the model's "
      "parameters, after they were moved to their device");
  EXPECT_EQ(refusal(sgd({slopes.module->a, slopes.module->a})),
            "optimizer: \"a\" is given twice: each parameter belongs to one group, once");
  EXPECT_EQ(refusal(std::make_shared<optim::LBFGS>(slopes.module->parameters(), optim::LBFGSOptions())),
            "torch optimizer: LBFGS needs a closure that computes the loss again: use an optimizer that does not");

  Groups groups;
  groups.emplace_back(std::vector{slopes.module->a}, std::make_unique<optim::SGDOptions>(0.0));
  groups.emplace_back(std::vector{slopes.module->b}, std::make_unique<optim::SGDOptions>(0.1));
  EXPECT_EQ(
      refusal(std::make_shared<optim::SGD>(groups, optim::SGDOptions(0.0))),
      "torch optimizer: the first group's learning rate is 0 and another's 0.1: make the first one above 0, so that "
      "their ratio is known");
}

}  // namespace
}  // namespace lope
