#include <gtest/gtest.h>
#include <lope/schedule.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

constexpr ScheduleInputs kInputs{.total_steps = 20, .warmup_steps = 4, .learning_rate = 5e-4};

std::string error_of(const std::string& name, const ArgumentMap& arguments, const ScheduleInputs& inputs = kInputs) {
  return testing::error_of([&] { make_schedule(name, inputs, arguments); });
}

// Made with transformers 5.24.0: get_scheduler(name, SGD with lr 5e-4, 4, 20, arguments).lr_lambdas[0](step).
TEST(Schedule, GivesTheNumbersOfTransformers) {
  constexpr std::array<int64_t, 9> steps{0, 2, 4, 7, 12, 16, 19, 20, 25};
  struct Row {
    std::string name;
    ArgumentMap arguments;
    std::array<double, 9> factors;
  };
  const std::vector<Row> rows{
      {"linear", {}, {0.0, 0.5, 1.0, 0.8125, 0.5, 0.25, 0.0625, 0.0, 0.0}},
      {"cosine",
       {},
       {0.0, 0.5, 1.0, 0.9157348061512727, 0.5, 0.14644660940672627, 0.009607359798384785, 0.0, 0.2222148834901989}},
      {"cosine",
       {{"num_cycles", 1.25}},
       {0.0, 0.5, 1.0, 0.5490085701647804, 0.14644660940672616, 0.9619397662556433, 0.735698368412999,
        0.5000000000000001, 0.1828033579181773}},
      {"cosine_with_restarts",
       {},
       {0.0, 0.5, 1.0, 0.9157348061512727, 0.5, 0.14644660940672627, 0.009607359798384785, 0.0, 0.0}},
      {"cosine_with_restarts",
       {{"num_cycles", 3.0}},
       {0.0, 0.5, 1.0, 0.4024548389919359, 0.5, 0.8535533905932737, 0.08426519384872733, 0.0, 0.0}},
      {"polynomial",
       {},
       {0.0, 0.5, 1.0, 0.8125375, 0.5001000000000001, 0.25015000000000004, 0.06268750000000001, 0.00019999999999999998,
        0.00019999999999999998}},
      {"polynomial",
       {{"power", 2.0}, {"lr_end", 1e-05}},
       {0.0, 0.5, 1.0, 0.666953125, 0.26499999999999996, 0.08124999999999999, 0.023828125000000002, 0.02, 0.02}},
      {"constant", {}, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}},
      {"constant_with_warmup", {}, {0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}},
      {"inverse_sqrt",
       {},
       {0.0, 0.5, 1.0, 0.7559289460184544, 0.5773502691896258, 0.5, 0.4588314677411235, 0.4472135954999579, 0.4}},
      {"inverse_sqrt",
       {{"timescale", 100.0}},
       {0.0, 0.5, 1.0, 0.9853292781642932, 0.9622504486493761, 0.9449111825230679, 0.9325048082403138,
        0.9284766908852594, 0.9090909090909091}},
      {"cosine_with_min_lr",
       {{"min_lr", 5e-05}},
       {0.0, 0.5, 1.0, 0.9241613255361454, 0.55, 0.23180194846605365, 0.10864662381854631, 0.1, 0.29999339514117906}},
      {"cosine_with_min_lr",
       {{"min_lr_rate", 0.25}, {"num_cycles", 1.0}},
       {0.0, 0.5, 1.0, 0.7685062871369087, 0.25, 0.6249999999999999, 0.9714548246917325, 1.0, 0.4814937128630913}},
      {"warmup_stable_decay",
       {{"num_decay_steps", 8.0}},
       {0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.03806023374435663, 0.0, 0.0}},
      {"warmup_stable_decay",
       {{"num_decay_steps", 8.0},
        {"num_stable_steps", 3.0},
        {"min_lr_ratio", 0.1},
        {"warmup_type", "cosine"},
        {"decay_type", "linear"}},
       {0.1, 0.5499999999999999, 1.0, 1.0, 0.4375, 0.1, 0.1, 0.1, 0.1}},
      {"warmup_stable_decay",
       {{"num_decay_steps", 10.0}, {"min_lr_ratio", 0.2}, {"warmup_type", "1-sqrt"}, {"decay_type", "1-sqrt"}},
       {0.2, 0.434314575050762, 1.0, 1.0, 0.6422291236000337, 0.3803226646068133, 0.241053361559589, 0.2, 0.2}},
      {"warmup_stable_decay",
       {{"num_decay_steps", 8.0}, {"num_cycles", 1.5}},
       {0.0, 0.5, 1.0, 1.0, 1.0, 0.4999999999999999, 0.3086582838174551, 0.0, 0.0}},
  };
  for (const Row& row : rows) {
    const RateFactor factor = make_schedule(row.name, kInputs, row.arguments);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_NEAR(factor(steps[i]), row.factors[i], 1e-14)
          << row.name << " with " << row.arguments.size() << " arguments at " << steps[i];
    }
  }
}

TEST(Schedule, LinearGoesUpAndDownByHand) {
  const RateFactor factor = make_schedule("linear", {.total_steps = 10, .warmup_steps = 2});
  const std::vector<double> expected{0, 0.5, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0, 0};
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_DOUBLE_EQ(factor(static_cast<int64_t>(step)), expected[step]) << step;
  }
}

TEST(Schedule, WithoutWarmupTheFirstUpdateHasTheFullRate) {
  for (const char* name :
       {"linear", "cosine", "constant", "constant_with_warmup", "polynomial", "cosine_with_restarts", "inverse_sqrt"}) {
    EXPECT_DOUBLE_EQ(make_schedule(name, {.total_steps = 10})(0), 1.0) << name;
  }
}

TEST(Schedule, WithWarmupTheFirstUpdateHasRateZero) {
  for (const char* name :
       {"linear", "cosine", "constant_with_warmup", "polynomial", "cosine_with_restarts", "inverse_sqrt"}) {
    EXPECT_EQ(make_schedule(name, {.total_steps = 10, .warmup_steps = 5})(0), 0.0) << name;
  }
}

TEST(Schedule, CosineIsOneHalfHalfWay) {
  EXPECT_NEAR(make_schedule("cosine", {.total_steps = 10})(5), 0.5, 1e-15);
  EXPECT_NEAR(make_schedule("cosine", {.total_steps = 10}, {{"num_cycles", 1.0}})(5), 0.0, 1e-15);
}

TEST(Schedule, RestartsReturnToOne) {
  const RateFactor factor = make_schedule("cosine_with_restarts", {.total_steps = 10}, {{"num_cycles", 2.0}});
  EXPECT_DOUBLE_EQ(factor(5), 1.0);
  EXPECT_LT(factor(4), 0.1);
  EXPECT_EQ(factor(10), 0.0);
}

TEST(Schedule, PolynomialEndsAtTheAbsoluteRate) {
  EXPECT_DOUBLE_EQ(make_schedule("polynomial", kInputs)(20) * 5e-4, 1e-7);
  EXPECT_DOUBLE_EQ(make_schedule("polynomial", kInputs, {{"lr_end", 1e-4}})(1000) * 5e-4, 1e-4);
  EXPECT_DOUBLE_EQ(
      make_schedule("polynomial", {.total_steps = 4, .learning_rate = 1}, {{"lr_end", 0.0}, {"power", 2.0}})(2), 0.25);
}

TEST(Schedule, InverseSqrtWithoutWarmupUsesTenThousand) {
  const RateFactor factor = make_schedule("inverse_sqrt", {.total_steps = 20});
  EXPECT_DOUBLE_EQ(factor(30000), 0.5);  // 1/sqrt(40000/10000)
}

TEST(Schedule, MinimumIsGivenAsARateOrAsItsPart) {
  const RateFactor as_rate = make_schedule("cosine_with_min_lr", kInputs, {{"min_lr", 1e-4}});
  const RateFactor as_part = make_schedule("cosine_with_min_lr", kInputs, {{"min_lr_rate", 0.2}});
  EXPECT_NEAR(as_rate(20), 0.2, 1e-15);
  for (int64_t step = 0; step <= 20; ++step) EXPECT_DOUBLE_EQ(as_rate(step), as_part(step));
}

TEST(Schedule, StableStepsFillWhatWarmupAndDecayLeave) {
  const RateFactor factor = make_schedule("warmup_stable_decay", kInputs, {{"num_decay_steps", 6.0}});
  EXPECT_EQ(factor(4), 1.0);
  EXPECT_EQ(factor(14), 1.0);
  EXPECT_LT(factor(15), 1.0);
  EXPECT_NEAR(factor(17), 0.5, 1e-15);
  EXPECT_EQ(factor(20), 0.0);
}

TEST(Schedule, AWarmupLongerThanTheRunNeverReachesTheTop) {
  for (const char* name : {"linear", "cosine", "polynomial", "inverse_sqrt"}) {
    EXPECT_DOUBLE_EQ(make_schedule(name, {.total_steps = 5, .warmup_steps = 10})(5), 0.5) << name;
  }
}

TEST(Schedule, IsFiniteInEveryCorner) {
  for (const char* name :
       {"linear", "cosine", "constant", "constant_with_warmup", "polynomial", "cosine_with_restarts", "inverse_sqrt"}) {
    for (const int64_t total : {0, 1, 4}) {
      for (const int64_t warmup : {0, 1, 4}) {
        for (const int64_t step : {0, 1, 4, 9}) {
          const double factor = make_schedule(name, {.total_steps = total, .warmup_steps = warmup})(step);
          EXPECT_TRUE(factor >= 0 && factor <= 1) << name << " N " << total << " W " << warmup << " s " << step;
        }
      }
    }
  }
}

TEST(Schedule, NamesWhatIsNear) {
  EXPECT_EQ(error_of("cosin", {}),
            "lr_scheduler_type is \"cosin\": it must be one of linear, cosine, constant, constant_with_warmup, "
            "polynomial, cosine_with_restarts, inverse_sqrt, reduce_lr_on_plateau, cosine_with_min_lr, "
            "warmup_stable_decay; did you mean cosine?");
  EXPECT_EQ(
      error_of("cosine", {{"num_cycle", 1.0}}),
      "lr_scheduler_kwargs: num_cycle is not an argument of cosine; it takes num_cycles; did you mean num_cycles?");
  EXPECT_EQ(error_of("polynomial", {{"gamma", 1.0}}),
            "lr_scheduler_kwargs: gamma is not an argument of polynomial; it takes power, lr_end");
  EXPECT_EQ(error_of("linear", {{"power", 1.0}}), "lr_scheduler_kwargs: linear takes no arguments; leave power out");
}

TEST(Schedule, RefusesWrongArguments) {
  EXPECT_EQ(error_of("cosine", {{"num_cycles", 0.0}}),
            "lr_scheduler_kwargs: num_cycles of cosine is 0: it must be a number above 0");
  EXPECT_EQ(error_of("cosine", {{"num_cycles", "two"}}),
            "lr_scheduler_kwargs: num_cycles of cosine is \"two\": it must be a number above 0");
  EXPECT_EQ(error_of("polynomial", {{"power", true}}),
            "lr_scheduler_kwargs: power of polynomial is true: it must be a number above 0");
  EXPECT_EQ(error_of("polynomial", {{"lr_end", 1e-3}}),
            "lr_scheduler_kwargs: lr_end of polynomial is 0.001: it must be below learning_rate, which is 0.0005; set "
            "lr_end or raise learning_rate");
  EXPECT_EQ(error_of("inverse_sqrt", {{"timescale", -1.0}}),
            "lr_scheduler_kwargs: timescale of inverse_sqrt is -1: it must be a number above 0");
  EXPECT_EQ(error_of("cosine", {{"num_cycles", std::nan("")}}),
            "lr_scheduler_kwargs: num_cycles of cosine is nan: it must be a number above 0");
}

TEST(Schedule, AsksForExactlyOneMinimum) {
  const std::string rest = " min_lr and min_lr_rate: give one of them, the lowest rate or its part of learning_rate";
  EXPECT_EQ(error_of("cosine_with_min_lr", {}), "lr_scheduler_kwargs: cosine_with_min_lr got neither" + rest);
  EXPECT_EQ(error_of("cosine_with_min_lr", {{"min_lr", 1e-5}, {"min_lr_rate", 0.1}}),
            "lr_scheduler_kwargs: cosine_with_min_lr got both" + rest);
  EXPECT_EQ(error_of("cosine_with_min_lr", {{"min_lr", 1e-3}}),
            "lr_scheduler_kwargs: min_lr of cosine_with_min_lr is 0.001: it must be a number from 0 to 5e-04");
}

TEST(Schedule, RefusesWrongPhases) {
  EXPECT_EQ(
      error_of("warmup_stable_decay", {}),
      "lr_scheduler_kwargs: warmup_stable_decay needs num_decay_steps, the updates over which the rate falls; add "
      "\"num_decay_steps\": 100");
  EXPECT_EQ(
      error_of("warmup_stable_decay", {{"num_decay_steps", 17.0}}),
      "lr_scheduler_kwargs: num_decay_steps of warmup_stable_decay is 17: it must be at most 16, the updates after "
      "the warm-up; lower it or warmup_steps, or give num_stable_steps");
  EXPECT_EQ(
      error_of("warmup_stable_decay", {{"num_decay_steps", 2.5}}),
      "lr_scheduler_kwargs: num_decay_steps of warmup_stable_decay is 2.5: it must be a whole number of 0 or more");
  EXPECT_EQ(
      error_of("warmup_stable_decay", {{"num_decay_steps", 2.0}, {"decay_type", "sqrt"}}),
      "lr_scheduler_kwargs: decay_type of warmup_stable_decay is \"sqrt\": it must be one of linear, cosine, 1-sqrt");
}

TEST(Schedule, PlateauIsElsewhere) {
  EXPECT_EQ(error_of("reduce_lr_on_plateau", {}),
            "lr_scheduler_type reduce_lr_on_plateau depends on metrics, not on the step alone; use lope::Plateau");
}

TEST(Schedule, RefusesNegativeInputs) {
  EXPECT_EQ(error_of("linear", {}, {.total_steps = 10, .warmup_steps = -1}),
            "a schedule was given total_steps 10, warmup_steps -1 and learning_rate 5e-05: each must be 0 or more");
}

}  // namespace
}  // namespace lope
