#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <lope/optimizers.h>

#include <limits>
#include <utility>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"
#include "support/optimizer_kinds.h"
#include "support/optimizer_run.h"
#include "support/threads.h"

namespace lope {
namespace {

using testing::clones;
using testing::error_of;
using testing::group_of;
using testing::largest_difference;
using testing::next_gradients;
using testing::optimizer_kinds;
using testing::OptimizerKind;
using testing::some_tensors;
using testing::Tensors;

constexpr double kRate = 0.01;
constexpr double kDecay = 0.1;

TensorMap copied(const TensorMap& state) {
  TensorMap copy;
  for (const auto& [name, tensor] : state) copy.emplace(name, tensor.clone());
  return copy;
}

void expect_same_bits(const Tensors& left, const Tensors& right, const std::string& what) {
  for (size_t i = 0; i < left.size(); ++i) EXPECT_TRUE(left[i].equal(right[i])) << what << ", tensor " << i;
}

void expect_same_bits(const TensorMap& left, const TensorMap& right, const std::string& what) {
  ASSERT_EQ(left.size(), right.size());
  for (const auto& [name, tensor] : left) EXPECT_TRUE(tensor.equal(right.at(name))) << what << ", " << name;
}

/// An optimizer of one kind over tensors of its own.
struct OwnRun {
  OwnRun(const OptimizerKind& kind, at::TensorOptions options, double weight_decay = kDecay)
      : parameters(some_tensors(1, options)), optimizer(kind.make({group_of(parameters, weight_decay)})) {}

  void steps(int first, int end, const Update& update = {.learning_rate = kRate}) {
    for (int step = first; step < end; ++step) {
      next_gradients(parameters, step);
      optimizer->step(update);
    }
  }

  Tensors parameters;
  std::unique_ptr<Optimizer> optimizer;
};

class OptimizersOnDevice : public testing::DeviceTest {
 protected:
  at::TensorOptions options(at::ScalarType type = at::kFloat) const { return at::TensorOptions(device()).dtype(type); }
  at::Tensor flag(double value) const { return at::full({1}, value, options()); }
  Update skipped(double skip) const { return {.learning_rate = kRate, .skip = flag(skip)}; }
};

TEST_P(OptimizersOnDevice, GradientsAreDividedByTheirScale) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun plain(kind, options());
    OwnRun scaled(kind, options());
    for (int step = 0; step < 3; ++step) {
      plain.steps(step, step + 1);
      next_gradients(scaled.parameters, step);
      for (const auto& parameter : scaled.parameters) parameter.grad().mul_(1024.0);
      scaled.optimizer->step({.learning_rate = kRate, .grad_scale = flag(1024.0), .skip = flag(0)});
    }
    EXPECT_LT(largest_difference(scaled.parameters, plain.parameters), 1e-6) << kind.name;
  }
}

TEST_P(OptimizersOnDevice, ASkippedStepLeavesEveryBitAlone) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun run(kind, options());
    run.steps(0, 2);
    const Tensors parameters = clones(run.parameters);
    const TensorMap state = copied(run.optimizer->state());
    for (const auto& parameter : run.parameters) {
      parameter.mutable_grad() = at::full_like(parameter, std::numeric_limits<double>::quiet_NaN());
    }
    run.optimizer->step(skipped(1));
    expect_same_bits(run.parameters, parameters, kind.name);
    expect_same_bits(run.optimizer->state(), state, kind.name);
  }
}

TEST_P(OptimizersOnDevice, AStepAfterASkippedOneIsAsIfThatHadNeverBeen) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun with(kind, options());
    OwnRun without(kind, options());
    with.steps(0, 2, skipped(0));
    with.steps(9, 10, skipped(1));
    with.steps(2, 4, skipped(0));
    without.steps(0, 4, skipped(0));
    expect_same_bits(with.parameters, without.parameters, kind.name);
  }
}

TEST_P(OptimizersOnDevice, ARateOnTheDeviceIsTheSameAsOneOnTheHost) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun host(kind, options());
    OwnRun other(kind, options());
    host.steps(0, 3);
    other.steps(0, 3, {.learning_rate = LearningRate(at::full({}, kRate, options()))});
    EXPECT_LT(largest_difference(other.parameters, host.parameters), 1e-6) << kind.name;
  }
}

TEST_P(OptimizersOnDevice, AParameterWithoutAGradientIsLeftAlone) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun run(kind, options());
    const Tensors before = clones(run.parameters);
    next_gradients(run.parameters, 0);
    run.parameters[1].mutable_grad().reset();
    run.optimizer->step(skipped(0));
    EXPECT_TRUE(run.parameters[1].equal(before[1])) << kind.name;
    EXPECT_FALSE(run.parameters[0].equal(before[0])) << kind.name;
    const TensorMap state = run.optimizer->state();
    EXPECT_EQ(state.at("p1.step").item<double>(), 0.0) << kind.name;
    EXPECT_EQ(state.at("p2.step").item<double>(), 1.0) << kind.name;
  }
}

TEST_P(OptimizersOnDevice, StateByNameContinuesTheRun) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun whole(kind, options());
    whole.steps(0, 3);
    const TensorMap saved = copied(whole.optimizer->state());
    Tensors resumed = clones(whole.parameters);
    whole.steps(3, 6);

    // The other way round: state goes by name, not by place.
    ParameterGroup group = group_of(resumed, kDecay);
    std::swap(group.parameters[0], group.parameters[2]);
    const auto optimizer = kind.make({group});
    optimizer->load_state(saved);
    for (int step = 3; step < 6; ++step) {
      next_gradients(resumed, step);
      optimizer->step({.learning_rate = kRate});
    }
    expect_same_bits(resumed, whole.parameters, kind.name);
  }
}

TEST_P(OptimizersOnDevice, ResetMakesItNew) {
  for (const auto& kind : optimizer_kinds()) {
    OwnRun run(kind, options());
    const TensorMap fresh = copied(run.optimizer->state());
    run.steps(0, 2);
    run.optimizer->reset();
    expect_same_bits(run.optimizer->state(), fresh, kind.name);
  }
}

TEST_P(OptimizersOnDevice, GroupsHaveTheirOwnDecayAndRate) {
  // Gradient descent without gradients: p ← p − rate · scale · decay · p.
  const Tensors tensors{at::ones({2}, options()), at::ones({2}, options())};
  const ParameterGroup all = group_of(tensors);
  SGD optimizer({{.parameters = {all.parameters[0]}, .weight_decay = 0.1},
                 {.parameters = {all.parameters[1]}, .weight_decay = 0.2, .lr_scale = 0.5}});
  for (const auto& tensor : tensors) tensor.mutable_grad() = at::zeros({2}, options());
  for (const bool on_host : {true, false}) {
    optimizer.step({.learning_rate = on_host ? LearningRate(0.5) : LearningRate(at::full({}, 0.5, options()))});
  }
  EXPECT_NEAR(tensors[0][0].item<double>(), 0.95 * 0.95, 1e-6);
  EXPECT_NEAR(tensors[1][0].item<double>(), 0.95 * 0.95, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimizersOnDevice, testing::every_device(), testing::device_name);

TEST(Optimizers, GiveTheSameBitsWithOneThreadAndTwo) {
  for (const auto& kind : optimizer_kinds()) {
    const auto after = [&](int threads) {
      return testing::with_threads(threads, [&] {
        OwnRun run(kind, at::kFloat);
        run.steps(0, 3);
        return run.parameters;
      });
    };
    expect_same_bits(after(1), after(2), kind.name);
  }
}

TEST(Optimizers, AZeroGradientInHalfPrecisionChangesNothing) {
  for (const auto& kind : optimizer_kinds()) {
    if (!kind.fused) continue;
    for (const auto type : {at::kHalf, at::kBFloat16}) {
      OwnRun run(kind, type, 0.0);
      const Tensors before = clones(run.parameters);
      for (const auto& parameter : run.parameters) parameter.mutable_grad() = at::zeros_like(parameter);
      run.optimizer->step({.learning_rate = kRate});
      expect_same_bits(run.parameters, before, kind.name);
    }
  }
}

TEST(Optimizers, StateNamesSayWhatTheyHold) {
  const Tensors tensors{at::ones({2})};
  const auto keys = [](const Optimizer& optimizer) {
    std::vector<std::string> names;
    for (const auto& item : optimizer.state()) names.push_back(item.first);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(keys(AdamW({group_of(tensors)})), (Names{"p0.exp_avg", "p0.exp_avg_sq", "p0.step"}));
  EXPECT_EQ(keys(SGD({group_of(tensors)})), (Names{"p0.step"}));
  EXPECT_EQ(keys(SGD({group_of(tensors)}, {.momentum = 0.9})), (Names{"p0.momentum_buffer", "p0.step"}));
  EXPECT_EQ(keys(Adagrad({group_of(tensors)})), (Names{"p0.step", "p0.sum"}));
  EXPECT_EQ(keys(RMSprop({group_of(tensors)}, {.momentum = 0.9, .centered = true})),
            (Names{"p0.grad_avg", "p0.momentum_buffer", "p0.square_avg", "p0.step"}));
}

TEST(Optimizers, AdagradStartsFromItsInitialValue) {
  const Tensors tensors{at::zeros({1})};
  Adagrad optimizer({group_of(tensors)}, {.initial_accumulator_value = 3.0, .eps = 0.0});
  tensors[0].mutable_grad() = at::ones({1});
  optimizer.step({.learning_rate = 1.0});
  EXPECT_NEAR(tensors[0].item<double>(), -0.5, 1e-7);
  optimizer.reset();
  EXPECT_EQ(optimizer.state().at("p0.sum").item<double>(), 3.0);
}

/// What `load_state` says to a changed state, after which nothing may have changed.
std::string refusal(void (*change)(TensorMap& state)) {
  const Tensors tensors{at::ones({2}), at::ones({3})};
  AdamW optimizer({group_of(tensors)});
  testing::set_gradients(tensors, {at::ones({2}), at::ones({3})});
  optimizer.step({.learning_rate = kRate});
  const TensorMap before = copied(optimizer.state());
  TensorMap changed = copied(before);
  for (auto& [name, tensor] : changed) tensor.add_(1.0);
  change(changed);
  const std::string message = error_of([&] { optimizer.load_state(changed); });
  expect_same_bits(optimizer.state(), before, message);
  return message;
}

TEST(Optimizers, AStateThatDoesNotFitIsRefusedAndNothingChanges) {
  EXPECT_EQ(refusal([](TensorMap& state) { state.erase("p1.exp_avg"); }),
            "optimizer state: \"p1.exp_avg\" is missing: the state belongs to another optimizer or model");
  EXPECT_EQ(refusal([](TensorMap& state) { state["p2.exp_avg"] = at::ones({1}); }),
            "optimizer state: \"p2.exp_avg\" is unknown: the state belongs to another optimizer or model");
  EXPECT_EQ(
      refusal([](TensorMap& state) { state["p1.exp_avg"] = at::ones({2}); }),
      "optimizer state: \"p1.exp_avg\" is Float (2), expected Float (3): the state belongs to another optimizer or "
      "model");
  EXPECT_EQ(
      refusal([](TensorMap& state) { state["p1.exp_avg"] = at::ones({3}, at::kDouble); }),
      "optimizer state: \"p1.exp_avg\" is Double (3), expected Float (3): the state belongs to another optimizer or "
      "model");
}

TEST(Optimizers, ParametersThatCannotBeTrainedTogetherAreRefused) {
  const auto refusal_of = [](std::vector<ParameterGroup> groups) { return error_of([&] { SGD{std::move(groups)}; }); };
  const at::Tensor one = at::ones({1});
  EXPECT_EQ(refusal_of({}), "optimizer: there is no parameter: give at least one");
  EXPECT_EQ(refusal_of({{.parameters = {{"a", one}}}, {.parameters = {{"b", one}}}}),
            "optimizer: \"b\" is given twice: each parameter belongs to one group, once");
  EXPECT_EQ(
      refusal_of({{.parameters = {{"a", one}, {"b", at::ones({1}, at::kDouble)}}}}),
      "optimizer: \"b\" is Double on cpu but \"a\" is Float on cpu: give each device and type a group of its own");
  EXPECT_EQ(refusal_of({{.parameters = {{"a", at::ones({4, 4}).narrow(1, 0, 2)}}}}),
            "optimizer: \"a\" is not a dense floating-point tensor: only those can be trained");
}

TEST(Optimizers, AnEmptyGroupIsNoProblem) {
  const Tensors tensors{at::zeros({1})};
  SGD optimizer({ParameterGroup{}, group_of(tensors)});
  tensors[0].mutable_grad() = at::ones({1});
  optimizer.step({.learning_rate = 1.0});
  EXPECT_EQ(tensors[0].item<double>(), -1.0);
}

TEST(Optimizers, OptionsOutOfRangeAreRefused) {
  const Tensors tensors{at::ones({1})};
  const auto groups = [&] { return std::vector{group_of(tensors)}; };
  EXPECT_EQ(error_of([&] { AdamW(groups(), {.betas = {1.0, 0.9}}); }), "beta1 is 1: it must be 0 or more and below 1");
  EXPECT_EQ(error_of([&] { Adam(groups(), {.betas = {0.9, -1.0}}); }), "beta2 is -1: it must be 0 or more and below 1");
  EXPECT_EQ(error_of([&] { Adam(groups(), {.eps = -1.0}); }), "eps is -1: it must be 0 or more");
  EXPECT_EQ(error_of([&] { SGD(groups(), {.momentum = -1.0}); }), "momentum is -1: it must be 0 or more");
  EXPECT_EQ(error_of([&] { SGD(groups(), {.nesterov = true}); }),
            "nesterov is on: it needs a momentum above 0 and a dampening of 0");
  EXPECT_EQ(error_of([&] { Adagrad(groups(), {.lr_decay = -1.0}); }), "lr_decay is -1: it must be 0 or more");
  EXPECT_EQ(error_of([&] { Adagrad(groups(), {.initial_accumulator_value = -1.0}); }),
            "initial_accumulator_value is -1: it must be 0 or more");
  EXPECT_EQ(error_of([&] { RMSprop(groups(), {.alpha = 1.0}); }), "alpha is 1: it must be 0 or more and below 1");
}

}  // namespace
}  // namespace lope
