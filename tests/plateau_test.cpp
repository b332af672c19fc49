#include <gtest/gtest.h>
#include <lope/plateau.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> rates(const PlateauOptions& options, const std::vector<double>& metrics, double rate = 1.0) {
  Plateau plateau(options, rate);
  std::vector<double> result;
  for (const double metric : metrics) result.push_back(plateau.step(metric));
  return result;
}

using testing::error_of;

using Rates = std::vector<double>;

// The rows were run through torch 2.11's ReduceLROnPlateau too.
TEST(Plateau, LowersTheRateAfterMoreThanPatienceBadEvaluations) {
  EXPECT_EQ(rates({.factor = 0.5, .patience = 1}, {3, 2, 2, 2, 2, 1, 1, 1, 1}),
            (Rates{1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25}));
}

TEST(Plateau, CountsNothingWhileCoolingDown) {
  EXPECT_EQ(rates({.factor = 0.5, .patience = 0, .cooldown = 2}, {1, 1, 1, 1, 1, 1, 1, 1}),
            (Rates{1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125}));
}

TEST(Plateau, ThresholdIsAPartOfTheBestOrADifference) {
  const PlateauOptions relative{.factor = 0.5, .patience = 0, .threshold = 0.1};
  const PlateauOptions absolute{.factor = 0.5, .patience = 0, .threshold = 0.1, .threshold_mode = "abs"};
  const std::vector<double> metrics{1, 0.95, 0.9, 0.89, 0.8};  // 0.8 is 10.1 % below 0.89, but not 0.1
  EXPECT_EQ(rates(relative, metrics), (Rates{1, 0.5, 0.25, 0.25, 0.25}));
  EXPECT_EQ(rates(absolute, metrics), (Rates{1, 0.5, 0.25, 0.25, 0.125}));
}

TEST(Plateau, ModeMaxWantsLargerMetrics) {
  const std::vector<double> metrics{1, 1.05, 1.1, 1.11, 1.3};
  EXPECT_EQ(rates({.mode = "max", .factor = 0.5, .patience = 0, .threshold = 0.1}, metrics),
            (Rates{1, 0.5, 0.25, 0.25, 0.25}));
  EXPECT_EQ(rates({.mode = "max", .factor = 0.5, .patience = 0, .threshold = 0.1, .threshold_mode = "abs"}, metrics),
            (Rates{1, 0.5, 0.25, 0.25, 0.25}));
}

TEST(Plateau, NeverGoesBelowTheMinimum) {
  EXPECT_EQ(rates({.factor = 0.5, .patience = 0, .min_lr = 0.3}, {1, 1, 1, 1, 1}), (Rates{1, 0.5, 0.3, 0.3, 0.3}));
}

TEST(Plateau, MakesNoChangeSmallerThanEps) {
  EXPECT_EQ(rates({.factor = 0.5, .patience = 0}, {1, 1, 1}, 1e-8), (Rates{1e-8, 1e-8, 1e-8}));
  EXPECT_EQ(rates({.factor = 0.5, .patience = 0, .eps = 0}, {1, 1, 1}, 1e-8), (Rates{1e-8, 0.5e-8, 0.25e-8}));
}

TEST(Plateau, NanIsNeverAnImprovement) {
  EXPECT_EQ(rates({.factor = 0.5, .patience = 0}, {kNan, 1, kNan, kNan, 0.5}), (Rates{0.5, 0.5, 0.25, 0.125, 0.125}));
}

TEST(Plateau, ContinuesFromItsState) {
  const PlateauOptions options{.factor = 0.5, .patience = 1, .cooldown = 1};
  const std::vector<double> metrics{3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1};
  const Rates expected = rates(options, metrics);
  for (std::size_t stop = 0; stop < metrics.size(); ++stop) {
    Plateau first(options, 1.0);
    for (std::size_t i = 0; i < stop; ++i) first.step(metrics[i]);
    Plateau second(options, 1.0);
    second.load_state(first.state());
    EXPECT_EQ(second.learning_rate(), first.learning_rate());
    for (std::size_t i = stop; i < metrics.size(); ++i) EXPECT_EQ(second.step(metrics[i]), expected[i]) << stop << i;
  }
}

TEST(Plateau, ReadsItsArguments) {
  const PlateauOptions options = PlateauOptions::from({{"mode", "max"},
                                                       {"factor", 0.5},
                                                       {"patience", 3.0},
                                                       {"threshold", 0.01},
                                                       {"threshold_mode", "abs"},
                                                       {"cooldown", 2.0},
                                                       {"min_lr", 1e-6},
                                                       {"eps", 1e-9}});
  EXPECT_EQ(options.mode, "max");
  EXPECT_EQ(options.factor, 0.5);
  EXPECT_EQ(options.patience, 3);
  EXPECT_EQ(options.threshold, 0.01);
  EXPECT_EQ(options.threshold_mode, "abs");
  EXPECT_EQ(options.cooldown, 2);
  EXPECT_EQ(options.min_lr, 1e-6);
  EXPECT_EQ(options.eps, 1e-9);
}

TEST(Plateau, RefusesWrongArguments) {
  EXPECT_EQ(error_of([] { PlateauOptions::from({{"factor", 1.0}}); }),
            "lr_scheduler_kwargs: factor of reduce_lr_on_plateau is 1: it must be a number from 0 to below 1");
  EXPECT_EQ(error_of([] { PlateauOptions::from({{"mode", "low"}}); }),
            "lr_scheduler_kwargs: mode of reduce_lr_on_plateau is \"low\": it must be one of min, max");
  EXPECT_EQ(error_of([] { PlateauOptions::from({{"patienc", 1.0}}); }),
            "lr_scheduler_kwargs: patienc is not an argument of reduce_lr_on_plateau; it takes mode, factor, patience, "
            "threshold, threshold_mode, cooldown, min_lr, eps; did you mean patience?");
  EXPECT_EQ(error_of([] { Plateau({.patience = -1}); }),
            "PlateauOptions: patience of reduce_lr_on_plateau is -1: it must be a whole number of 0 or more");
  EXPECT_EQ(error_of([] { Plateau({}, kNan); }),
            "learning_rate of reduce_lr_on_plateau is nan: it must be a number of 0 or more");
}

}  // namespace
}  // namespace lope
