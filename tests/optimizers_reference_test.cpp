// The optimizers against torch::optim and ATen's fused kernels, over twenty steps with weight decay.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <lope/optimizers.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/optimizer_run.h"

namespace lope {
namespace {

using testing::clones;
using testing::group_of;
using testing::largest_difference;
using testing::next_gradients;
using testing::some_tensors;
using testing::Tensors;

constexpr double kRate = 0.01;
constexpr double kDecay = 0.1;

using Theirs = std::unique_ptr<torch::optim::Optimizer>;

struct Pair {
  std::string name;
  std::function<std::unique_ptr<Optimizer>(std::vector<ParameterGroup>)> ours;
  std::function<Theirs(const Tensors&)> theirs;
};

template <typename Ours, typename OurOptions, typename Theirs_, typename TheirOptions>
Pair pair(std::string name, OurOptions ours, TheirOptions theirs) {
  theirs.weight_decay(kDecay);
  return {std::move(name),
          [ours](std::vector<ParameterGroup> groups) { return std::make_unique<Ours>(std::move(groups), ours); },
          [theirs](const Tensors& parameters) { return std::make_unique<Theirs_>(parameters, theirs); }};
}

std::vector<Pair> pairs() {
  namespace optim = torch::optim;
  const auto sgd = [](std::string name, SGDOptions ours, optim::SGDOptions theirs) {
    return pair<SGD, SGDOptions, optim::SGD>(std::move(name), ours, std::move(theirs));
  };
  const auto rmsprop = [](std::string name, RMSpropOptions ours, optim::RMSpropOptions theirs) {
    return pair<RMSprop, RMSpropOptions, optim::RMSprop>(std::move(name), ours, std::move(theirs));
  };
  return {
      pair<AdamW, AdamOptions, optim::AdamW>("AdamW", AdamOptions{.betas = {0.8, 0.95}},
                                             optim::AdamWOptions(kRate).betas({0.8, 0.95})),
      pair<Adam, AdamOptions, optim::Adam>("Adam", AdamOptions{.eps = 1e-3}, optim::AdamOptions(kRate).eps(1e-3)),
      pair<Adagrad, AdagradOptions, optim::Adagrad>(
          "Adagrad", AdagradOptions{.lr_decay = 0.1, .initial_accumulator_value = 0.2},
          optim::AdagradOptions(kRate).lr_decay(0.1).initial_accumulator_value(0.2)),
      sgd("SGD", {}, optim::SGDOptions(kRate)),
      sgd("SGD with momentum", {.momentum = 0.9}, optim::SGDOptions(kRate).momentum(0.9)),
      sgd("SGD with dampening", {.momentum = 0.9, .dampening = 0.3},
          optim::SGDOptions(kRate).momentum(0.9).dampening(0.3)),
      sgd("SGD of Nesterov", {.momentum = 0.9, .nesterov = true},
          optim::SGDOptions(kRate).momentum(0.9).nesterov(true)),
      rmsprop("RMSprop", {.alpha = 0.9}, optim::RMSpropOptions(kRate).alpha(0.9)),
      rmsprop("RMSprop with momentum", {.momentum = 0.9}, optim::RMSpropOptions(kRate).momentum(0.9)),
      rmsprop("RMSprop, centred", {.centered = true}, optim::RMSpropOptions(kRate).centered(true)),
      rmsprop("RMSprop, centred with momentum", {.momentum = 0.5, .centered = true},
              optim::RMSpropOptions(kRate).momentum(0.5).centered(true)),
  };
}

/// The reference makes its steps in `wide`, from the same numbers; ours in `type`.
double difference_after(const Pair& pair, int steps, at::ScalarType type, at::ScalarType wide) {
  Tensors ours = some_tensors(1, type);
  Tensors theirs;
  for (const auto& tensor : ours) theirs.push_back(tensor.to(wide).clone().requires_grad_());
  const auto optimizer = pair.ours({group_of(ours, kDecay)});
  const auto reference = pair.theirs(theirs);
  for (int step = 0; step < steps; ++step) {
    next_gradients(ours, step);
    for (size_t i = 0; i < ours.size(); ++i) theirs[i].mutable_grad() = ours[i].grad().to(wide).clone();
    optimizer->step({.learning_rate = kRate});
    reference->step();
  }
  return largest_difference(ours, theirs);
}

/// Those whose operations are torch.optim's one by one.
std::vector<Pair> unfused_pairs() {
  namespace optim = torch::optim;
  const auto rmsprop = [](std::string name, RMSpropOptions ours, const optim::RMSpropOptions& theirs) {
    ours.fused = false;
    return pair<RMSprop, RMSpropOptions, optim::RMSprop>(std::move(name), ours, theirs);
  };
  return {
      pair<AdamW, AdamOptions, optim::AdamW>("AdamW", AdamOptions{.betas = {0.8, 0.95}, .fused = false},
                                             optim::AdamWOptions(kRate).betas({0.8, 0.95})),
      pair<Adam, AdamOptions, optim::Adam>("Adam", AdamOptions{.fused = false}, optim::AdamOptions(kRate)),
      pair<Adagrad, AdagradOptions, optim::Adagrad>("Adagrad", AdagradOptions{.lr_decay = 0.1, .fused = false},
                                                    optim::AdagradOptions(kRate).lr_decay(0.1)),
      rmsprop("RMSprop", {.alpha = 0.9}, optim::RMSpropOptions(kRate).alpha(0.9)),
      rmsprop("RMSprop with momentum", {.momentum = 0.9}, optim::RMSpropOptions(kRate).momentum(0.9)),
      rmsprop("RMSprop, centred with momentum", {.momentum = 0.5, .centered = true},
              optim::RMSpropOptions(kRate).momentum(0.5).centered(true)),
  };
}

// C++'s torch::optim takes a few steps in another order than Python's, whose bits the runs with the Python Trainer
// compare.
TEST(OptimizersReference, WhatIsNotFusedIsTorchOptim) {
  for (const auto& pair : unfused_pairs()) {
    EXPECT_LT(difference_after(pair, 20, at::kFloat, at::kFloat), 1e-6) << pair.name;
    EXPECT_LT(difference_after(pair, 20, at::kDouble, at::kDouble), 1e-13) << pair.name;
  }
}

TEST(OptimizersReference, SinglePrecisionIsThatOfTorchOptim) {
  for (const auto& pair : pairs()) EXPECT_LT(difference_after(pair, 20, at::kFloat, at::kFloat), 1e-6) << pair.name;
}

TEST(OptimizersReference, DoublePrecisionIsThatOfTorchOptim) {
  for (const auto& pair : pairs()) EXPECT_LT(difference_after(pair, 20, at::kDouble, at::kDouble), 1e-13) << pair.name;
}

// A few steps: each rounds parameters of up to about 4 to 8 or 11 bits.
TEST(OptimizersReference, SixteenBitsAreNearSinglePrecision) {
  for (const auto& pair : pairs()) {
    EXPECT_LT(difference_after(pair, 3, at::kBFloat16, at::kFloat), 3 * 0.0157) << pair.name;
    EXPECT_LT(difference_after(pair, 3, at::kHalf, at::kFloat), 3 * 0.00196) << pair.name;
  }
}

/// The same run through an ATen kernel, which gets the lists it needs: first slot, second slot, step counts.
template <typename Kernel>
double difference_from_fused(Optimizer& optimizer, const Tensors& ours, const Kernel& kernel) {
  const at::NoGradGuard no_grad;
  Tensors theirs = clones(ours);
  Tensors first;
  Tensors second;
  Tensors counts;
  for (const auto& tensor : theirs) {
    first.push_back(at::zeros_like(tensor));
    second.push_back(at::zeros_like(tensor));
    counts.push_back(at::zeros({}));
  }
  for (int step = 0; step < 20; ++step) {
    next_gradients(ours, step);
    Tensors gradients;
    for (const auto& tensor : ours) gradients.push_back(at::empty_like(tensor).copy_(tensor.grad()));
    for (const auto& count : counts) at::Tensor(count).add_(1.0);
    kernel(theirs, gradients, first, second, counts);
    optimizer.step({.learning_rate = kRate});
  }
  return largest_difference(ours, theirs);
}

using Lists = const Tensors&;

TEST(OptimizersReference, AdamAndAdamWAreTheFusedKernels) {
  const Tensors ours = some_tensors(1, at::kFloat);
  AdamW adamw({group_of(ours, kDecay)});
  EXPECT_LT(difference_from_fused(adamw, ours,
                                  [](Lists p, Lists g, Lists m, Lists v, Lists t) {
                                    at::_fused_adamw_(p, g, m, v, {}, t, kRate, 0.9, 0.999, kDecay, 1e-8, false, false);
                                  }),
            1e-6);
  const Tensors again = some_tensors(1, at::kFloat);
  Adam adam({group_of(again, kDecay)});
  EXPECT_LT(difference_from_fused(adam, again,
                                  [](Lists p, Lists g, Lists m, Lists v, Lists t) {
                                    at::_fused_adam_(p, g, m, v, {}, t, kRate, 0.9, 0.999, kDecay, 1e-8, false, false);
                                  }),
            1e-6);
}

TEST(OptimizersReference, SgdAndAdagradAreTheFusedKernels) {
  const Tensors ours = some_tensors(1, at::kFloat);
  SGD sgd({group_of(ours, kDecay)}, {.momentum = 0.9, .nesterov = true});
  EXPECT_LT(difference_from_fused(sgd, ours,
                                  [](Lists p, Lists g, Lists m, Lists, Lists) {
                                    at::_fused_sgd_(p, g, m, kDecay, 0.9, kRate, 0.0, true, false, false);
                                  }),
            1e-6);
  const Tensors again = some_tensors(1, at::kFloat);
  Adagrad adagrad({group_of(again, kDecay)});
  EXPECT_LT(difference_from_fused(adagrad, again,
                                  [](Lists p, Lists g, Lists m, Lists, Lists t) {
                                    at::_fused_adagrad_(p, g, m, t, kRate, 0.0, kDecay, 1e-10, false);
                                  }),
            1e-6);
}

}  // namespace
}  // namespace lope
