#include <gtest/gtest.h>
#include <lope/callbacks/early_stopping.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/error_of.h"
#include "support/run_in_hand.h"

namespace lope {
namespace {

using testing::error_of;
using testing::RunInHand;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The number of evaluations after which the run is stopped; 0 when it never is.
int evaluations_until_stop(EarlyStopping& stopping, const std::vector<double>& losses, RunInHand& run) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    stopping.on_evaluate(run.context(), {{"eval_loss", losses[i]}}, run.control);
    if (run.control.stop) return static_cast<int>(i) + 1;
  }
  return 0;
}

int stops_at(int64_t patience, double threshold, const std::vector<double>& losses) {
  EarlyStopping stopping(patience, threshold);
  RunInHand run;
  stopping.on_train_begin(run.context(), run.control);
  return evaluations_until_stop(stopping, losses, run);
}

TEST(EarlyStopping, StopsAfterPatienceEvaluationsWithoutImprovement) {
  EXPECT_EQ(stops_at(1, 0, {3, 2, 1}), 0);
  EXPECT_EQ(stops_at(1, 0, {3, 2, 2, 1}), 3);
  EXPECT_EQ(stops_at(3, 0, {1, 2, 3, 4}), 4);
  EXPECT_EQ(stops_at(2, 0, {1, 2, 0.5, 2, 0.4, 2}), 0);
}

TEST(EarlyStopping, ComparesWithTheBestNotWithTheLast) { EXPECT_EQ(stops_at(2, 0, {1, 3, 2}), 3); }

TEST(EarlyStopping, ImprovementsUpToTheThresholdDoNotCount) {
  EXPECT_EQ(stops_at(1, 0.5, {3, 2.5}), 2);
  EXPECT_EQ(stops_at(1, 0.5, {3, 2.25}), 0);
  EXPECT_EQ(stops_at(2, 0.5, {3, 2.75, 2.5}), 3);  // as in Python, each is compared with the best before it
}

TEST(EarlyStopping, MetricsThatAreNotFiniteNeverImprove) {
  EXPECT_EQ(stops_at(2, 0, {kNan, kNan}), 2);
  EXPECT_EQ(stops_at(2, 0, {kNan, 0.5, 0.4}), 0);
  EXPECT_EQ(stops_at(2, 0, {1, kNan, -kInfinity}), 3);
}

TEST(EarlyStopping, LooksAtTheMetricOfTheArguments) {
  EarlyStopping stopping(1);
  RunInHand run;
  run.arguments.metric_for_best_model = "accuracy";  // larger is better, as its name does not end in loss
  stopping.on_train_begin(run.context(), run.control);
  for (const double accuracy : {0.5, 0.6, 0.7}) {
    stopping.on_evaluate(run.context(), {{"eval_accuracy", accuracy}, {"eval_loss", 1}}, run.control);
    EXPECT_FALSE(run.control.stop);
  }
  stopping.on_evaluate(run.context(), {{"eval_accuracy", 0.6}, {"eval_loss", 0}}, run.control);
  EXPECT_TRUE(run.control.stop);
}

TEST(EarlyStopping, TwoBadEvaluationsAResumeAndOneMoreStop) {
  RunInHand run;
  EarlyStopping first(3);
  first.on_train_begin(run.context(), run.control);
  EXPECT_EQ(evaluations_until_stop(first, {1, 2, 2}, run), 0);
  run.go_to(5);
  EarlyStopping second(3);
  second.load_state(first.state());
  second.on_train_begin(run.context(), run.control);
  EXPECT_EQ(evaluations_until_stop(second, {2}, run), 1);
}

TEST(EarlyStopping, ASecondRunStartsClean) {
  RunInHand run;
  EarlyStopping stopping(2);
  stopping.on_train_begin(run.context(), run.control);
  EXPECT_EQ(evaluations_until_stop(stopping, {1, 2}, run), 0);
  stopping.on_train_begin(run.context(), run.control);
  EXPECT_EQ(evaluations_until_stop(stopping, {2, 3}, run), 0);
}

TEST(EarlyStopping, ReadsTheStateOfThePythonClass) {
  RunInHand run;
  run.go_to(5);
  run.best = BestMetric{1.0, 2};
  EarlyStopping stopping(2);
  stopping.load_state(R"({"args": {"early_stopping_patience": 2, "early_stopping_threshold": 0.0},
                          "attributes": {"early_stopping_patience_counter": 1}})");
  stopping.on_train_begin(run.context(), run.control);
  EXPECT_EQ(evaluations_until_stop(stopping, {1.5}, run), 1);
}

TEST(EarlyStopping, WritesItsState) {
  RunInHand run;
  EarlyStopping stopping(3, 0.5);
  stopping.on_evaluate(run.context(), {{"eval_loss", 2}}, run.control);
  stopping.on_evaluate(run.context(), {{"eval_loss", 2}}, run.control);
  EXPECT_EQ(stopping.name(), "EarlyStoppingCallback");
  EXPECT_EQ(stopping.state(), R"({
  "args": {
    "early_stopping_patience": 3,
    "early_stopping_threshold": 0.5
  },
  "attributes": {
    "best_metric": 2.0,
    "early_stopping_patience_counter": 1
  }
})");
}

TEST(EarlyStopping, RefusesTheStateOfAnother) {
  EarlyStopping stopping;
  const std::string expected =
      "the state of EarlyStopping has no whole number early_stopping_patience_counter: it is another's";
  for (const char* text : {"{}", "[]", R"({"attributes": {"early_stopping_patience_counter": "1"}})"}) {
    EXPECT_EQ(error_of([&] { stopping.load_state(text); }), expected) << text;
  }
}

TEST(EarlyStopping, RefusesARunInWhichItCannotWork) {
  RunInHand run;
  EarlyStopping stopping;
  run.arguments.metric_for_best_model = "f1";
  EXPECT_EQ(error_of([&] { stopping.on_evaluate(run.context(), {{"eval_loss", 1}, {"eval_acc", 1}}, run.control); }),
            "metric_for_best_model is \"f1\", but the evaluation gives eval_acc, eval_loss; name one of these, or "
            "return f1 from compute_metrics");
  run.arguments.eval_strategy = "no";
  EXPECT_EQ(error_of([&] { stopping.on_train_begin(run.context(), run.control); }),
            "eval_strategy is \"no\": EarlyStopping needs evaluations; set it to \"steps\" or \"epoch\"");
}

TEST(EarlyStopping, RefusesWrongLimits) {
  EXPECT_EQ(error_of([] { EarlyStopping(0); }), "the patience of EarlyStopping is 0: it must be 1 evaluation or more");
  EXPECT_EQ(error_of([] { EarlyStopping(1, -0.5); }),
            "the threshold of EarlyStopping is -0.5: it must be a number of 0 or more");
  EXPECT_EQ(error_of([] { EarlyStopping(1, kNan); }),
            "the threshold of EarlyStopping is nan: it must be a number of 0 or more");
}

}  // namespace
}  // namespace lope
