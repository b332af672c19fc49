#include "../src/run_position.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/error_of.h"

namespace lope::testing {
namespace {

RunPosition some_position() {
  return {.progress = {.epoch = 2, .step = 17, .micro_step = 5, .samples = 90, .tokens = 900, .skipped = 1},
          .loader = {.epoch = 2, .examples = 20},
          .examples_per_epoch = 35,
          .epoch_ended = true,
          .evaluated_at = 15,
          .logged_skips = 1,
          .recent = {.sum = 0.1 + 0.2, .windows = 2},
          .plateau = Plateau::State{.learning_rate = 0.01, .best = 1.5, .bad_evaluations = 3, .cooldown_left = 1},
          .optimizer = "sgd",
          .best_saved = BestMetric{1.25, 15}};
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = some_position().to_json();
  return text.replace(text.find(from), from.size(), to);
}

std::string error_with(const std::string& from, const std::string& to) {
  return error_of([&] { RunPosition::from_json(with(from, to)); });
}

TEST(RunPosition, ComesBackFromItsText) {
  const RunPosition given = some_position();
  const RunPosition back = RunPosition::from_json(given.to_json());
  EXPECT_EQ(back.progress, given.progress);
  EXPECT_EQ(back.loader, given.loader);
  EXPECT_EQ(back.examples_per_epoch, 35);
  EXPECT_TRUE(back.epoch_ended);
  EXPECT_EQ(back.evaluated_at, 15);
  EXPECT_EQ(back.logged_skips, 1);
  EXPECT_EQ(back.recent.sum, 0.1 + 0.2);
  EXPECT_EQ(back.recent.windows, 2);
  EXPECT_EQ(back.plateau->learning_rate, 0.01);
  EXPECT_EQ(back.plateau->bad_evaluations, 3);
  EXPECT_EQ(back.optimizer, "sgd");
  EXPECT_EQ(back.best_saved, given.best_saved);
}

TEST(RunPosition, KeepsWhatIsNotThereAndNumbersThatAreNotFinite) {
  RunPosition given;
  given.recent.sum = std::numeric_limits<double>::infinity();
  const RunPosition back = RunPosition::from_json(given.to_json());
  EXPECT_EQ(back.examples_per_epoch, std::nullopt);
  EXPECT_FALSE(back.plateau.has_value());
  EXPECT_FALSE(back.best_saved.has_value());
  EXPECT_EQ(back.recent.sum, std::numeric_limits<double>::infinity());
}

TEST(RunPosition, NamesAFieldThatIsMissingOrWrong) {
  EXPECT_EQ(error_with("\"samples\"", "\"sample\""), "samples is missing: it is not a whole progress.json");
  EXPECT_EQ(error_with("\"tokens\": 900", "\"tokens\": -1"), "tokens is -1: it must be 0 or more");
  EXPECT_EQ(error_with("\"epoch_ended\": true", "\"epoch_ended\": 3"), "epoch_ended is 3: it must be true or false");
  EXPECT_EQ(error_with("\"optimizer\": \"sgd\"", "\"optimizer\": []"), "optimizer is []: it must be a text");
  EXPECT_EQ(error_of([] { RunPosition::from_json("[]"); }), "the state is []: it must be an object");
}

}  // namespace
}  // namespace lope::testing
