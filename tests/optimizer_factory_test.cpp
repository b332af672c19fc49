#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/optimizer_factory.h>
#include <lope/optimizers.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <memory>
#include <string>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

/// One weight and one bias, both 1.
struct OneLayer {
  OneLayer() {
    const at::NoGradGuard no_grad;
    linear->weight.fill_(1.0);
    linear->bias.fill_(1.0);
  }
  double weight() const { return linear->weight.item<double>(); }
  double bias() const { return linear->bias.item<double>(); }

  /// Steps with this gradient and rate 0.1.
  void step(Optimizer& optimizer, double gradient, int times = 1) {
    for (int i = 0; i < times; ++i) {
      linear->weight.mutable_grad() = at::ones({1, 1}) * gradient;
      linear->bias.mutable_grad() = at::ones({1}) * gradient;
      optimizer.step({.learning_rate = 0.1});
    }
  }

  torch::nn::Linear linear{1, 1};
  Model model{linear};
};

TrainingArguments with(const std::string& optim, const std::string& optim_args = "") {
  return {.optim = optim, .optim_args = optim_args};
}

std::string refusal(const std::string& optim, const std::string& optim_args) {
  const OneLayer layer;
  return error_of([&] { make_optimizer(with(optim, optim_args), layer.model); });
}

/// The weight, which was 1, after two steps with gradient 1 and rate 0.1.
double weight_after_two_steps(const std::string& optim, const std::string& optim_args) {
  OneLayer layer;
  layer.step(*make_optimizer(with(optim, optim_args), layer.model), 1.0, 2);
  return layer.weight();
}

TEST(MakeOptimizer, EveryNameOfTheArgumentsHasOne) {
  const OneLayer layer;
  for (const auto name : kOptimizerNames)
    EXPECT_NE(make_optimizer(with(std::string(name)), layer.model), nullptr) << name;
  EXPECT_NE(dynamic_cast<AdamW*>(make_optimizer(with("adamw_torch"), layer.model).get()), nullptr);
  EXPECT_NE(dynamic_cast<Adam*>(make_optimizer(with("adam"), layer.model).get()), nullptr);
}

TEST(MakeOptimizer, WeightDecaySparesTheBias) {
  OneLayer layer;
  const auto optimizer = make_optimizer({.weight_decay = 0.1}, layer.model);
  layer.step(*optimizer, 0.0);
  EXPECT_NEAR(layer.weight(), 0.99, 1e-7);
  EXPECT_EQ(layer.bias(), 1.0);
}

TEST(MakeOptimizer, AdamTakesItsBetasAndEpsilonFromTheArguments) {
  // With beta1 = beta2 = 0 the step is rate · g / (|g| + eps).
  for (const std::string name : {"adamw_torch", "adamw_torch_fused", "adam"}) {
    OneLayer layer;
    const auto optimizer =
        make_optimizer({.optim = name, .adam_beta1 = 0.0, .adam_beta2 = 0.0, .adam_epsilon = 1.0}, layer.model);
    layer.step(*optimizer, 1.0);
    EXPECT_NEAR(layer.weight(), 1.0 - 0.1 * 0.5, 1e-6) << name;
  }
}

TEST(MakeOptimizer, SgdTakesMomentumDampeningAndNesterov) {
  EXPECT_NEAR(weight_after_two_steps("sgd", ""), 0.8, 1e-6);
  EXPECT_NEAR(weight_after_two_steps("sgd", "momentum=0.5"), 1.0 - 0.1 - 0.15, 1e-6);
  EXPECT_NEAR(weight_after_two_steps("sgd", "momentum=0.5, dampening=0.5"), 1.0 - 0.1 - 0.1, 1e-6);
  EXPECT_NEAR(weight_after_two_steps("sgd", R"({"momentum": 0.5, "nesterov": true})"), 1.0 - 0.15 - 0.175, 1e-6);
}

TEST(MakeOptimizer, AdagradTakesDecayInitialValueAndEpsilon) {
  EXPECT_NEAR(weight_after_two_steps("adagrad", ""), 1.0 - 0.1 - 0.1 / std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(weight_after_two_steps("adagrad", "initial_accumulator_value=3,lr_decay=1,eps=1"),
              1.0 - 0.1 / 3.0 - 0.05 / (std::sqrt(5.0) + 1.0), 1e-6);
}

TEST(MakeOptimizer, RmspropTakesAlphaEpsilonMomentumAndCentered) {
  // With alpha 0 the mean square is the gradient's own: steps of rate · 1 / (1 + eps).
  EXPECT_NEAR(weight_after_two_steps("rmsprop", "alpha=0,eps=1"), 0.9, 1e-6);
  EXPECT_NEAR(weight_after_two_steps("rmsprop", "alpha=0,eps=1,momentum=1"), 1.0 - 0.05 - 0.1, 1e-6);
  // Centred, nothing is left of the mean square but epsilon.
  EXPECT_NEAR(weight_after_two_steps("rmsprop", "alpha=0,eps=10,centered=true"), 1.0 - 0.02, 1e-6);
}

TEST(MakeOptimizer, UnknownArgumentsAreRefusedWithThoseThereAre) {
  EXPECT_EQ(
      refusal("sgd", "momentun=0.9"),
      "optim_args: momentun is not an argument of sgd; it takes momentum, dampening, nesterov; did you mean momentum?");
  EXPECT_EQ(refusal("adagrad", "decay=1"),
            "optim_args: decay is not an argument of adagrad; it takes lr_decay, initial_accumulator_value, eps; did "
            "you mean "
            "lr_decay?");
  EXPECT_EQ(refusal("rmsprop", "beta=1"),
            "optim_args: beta is not an argument of rmsprop; it takes alpha, eps, momentum, centered");
  EXPECT_EQ(refusal("adamw_torch", "beta1=0.8"),
            "optim_args: adamw_torch takes none, and beta1 was given: set adam_beta1, adam_beta2 and adam_epsilon");
  EXPECT_EQ(refusal("sgd", "weight_decay=0.1"),
            "optim_args: weight_decay is not one of them: set the argument weight_decay");
}

TEST(MakeOptimizer, WrongValuesAreRefusedWithWhatIsAllowed) {
  EXPECT_EQ(refusal("sgd", "momentum=much"),
            "optim_args: momentum of sgd is \"much\": it must be a number of 0 or more");
  EXPECT_EQ(refusal("sgd", "momentum=-1"), "optim_args: momentum of sgd is -1: it must be a number of 0 or more");
  EXPECT_EQ(refusal("sgd", "nesterov=2"), "optim_args: nesterov of sgd is 2: it must be true or false");
  EXPECT_EQ(refusal("sgd", "nesterov=true"), "nesterov is on: it needs a momentum above 0 and a dampening of 0");
  EXPECT_EQ(refusal("rmsprop", "alpha=1"), "optim_args: alpha of rmsprop is 1: it must be a number from 0 to below 1");
}

TEST(MakeOptimizer, AnUnknownOptimizerIsRefused) {
  EXPECT_EQ(
      refusal("sdg", ""),
      "optim is \"sdg\": it must be one of adamw_torch, adamw_torch_fused, adam, sgd, adagrad, rmsprop; did you mean "
      "sgd?");
}

}  // namespace
}  // namespace lope
