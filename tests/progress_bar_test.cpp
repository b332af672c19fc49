#include <gtest/gtest.h>
#include <lope/callbacks/progress_bar.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>

#include "support/run_in_hand.h"

namespace lope {
namespace {

using testing::RunInHand;

constexpr const char* kClear = "\r\x1b[K";

class ProgressBarOfARun : public ::testing::Test {
 protected:
  ProgressBar make(int width = 0, bool unicode = false, bool colour = false) {
    return ProgressBar(
        {.stream = &stream, .redraw = width > 0, .width = width, .unicode = unicode, .colour = colour, .clock = [this] {
           return now;
         }});
  }

  // The report has no values: reading it would throw.
  void step(ProgressBar& bar, int64_t to, double seconds) {
    now += seconds;
    run.go_to(to);
    bar.on_step_end(run.context(), StepReport{}, run.control);
  }

  void log(ProgressBar& bar, std::vector<std::pair<std::string, double>> values) {
    bar.on_log(run.context(), run.log(std::move(values)), run.control);
  }

  // What was written since the last call.
  std::string written() {
    std::string text = stream.str();
    stream.str("");
    return text;
  }

  // The line that stands on the terminal.
  std::string shown() {
    const std::string text = written();
    return text.substr(text.rfind(kClear) + 4);
  }

  RunInHand run;
  double now = 50;
  std::ostringstream stream;
};

TEST_F(ProgressBarOfARun, ShowsWhatWasLogged) {
  ProgressBar bar = make(120);
  bar.on_train_begin(run.context(), run.control);
  EXPECT_EQ(written(), std::string(kClear) + "  0% [" + std::string(40, ' ') +
                           "]   0/10  epoch 0.00  0.00 samples/s  00:00<--:--");
  step(bar, 4, 2);
  EXPECT_EQ(written(), std::string(kClear) + " 40% [===============>" + std::string(24, ' ') +
                           "]   4/10  epoch 0.80    256 tokens/s  00:02<00:03");
  log(bar, {{"loss", 2.34512}, {"grad_norm", 0.5}, {"learning_rate", 3e-4}});
  EXPECT_EQ(written(), std::string(kClear) + " 40% [=========>" + std::string(15, ' ') +
                           "]   4/10  loss 2.3451  lr 3.00e-04  norm 0.5000  epoch 0.80    256 tokens/s  00:02<00:03");
}

TEST_F(ProgressBarOfARun, LeavesOutWhatMattersLeastOnNarrowTerminals) {
  const std::vector<std::pair<int, std::string>> rows{
      {110,
       " 40% [=====>         ]   4/10  loss 2.3451  lr 3.00e-04  norm 0.5000  epoch 0.80    256 tokens/s  "
       "00:02<00:03"},
      {90, " 40% [==>     ]   4/10  loss 2.3451  lr 3.00e-04  epoch 0.80    256 tokens/s  00:02<00:03"},
      {80, " 40% [===>      ]   4/10  loss 2.3451  lr 3.00e-04    256 tokens/s  00:02<00:03"},
      {66, " 40% [==>      ]   4/10  loss 2.3451    256 tokens/s  00:02<00:03"},
      {50, " 40% [==>      ]   4/10  loss 2.3451  00:02<00:03"},
      {40, " 40% [===>        ]   4/10  loss 2.3451"},
      {24, " 40% [==>      ]   4/10"},
      {18, " 40% [>  ]   4/10"},
      {14, " 40%   4/10"},
      {6, " 40%"},
      {1, ""},
  };
  for (const auto& [width, line] : rows) {
    ProgressBar bar = make(width);
    run.go_to(0);
    bar.on_train_begin(run.context(), run.control);
    step(bar, 4, 2);
    written();
    log(bar, {{"loss", 2.34512}, {"grad_norm", 0.5}, {"learning_rate", 3e-4}});
    const std::string text = shown();
    EXPECT_EQ(text, line) << width;
    EXPECT_LT(text.size(), static_cast<std::size_t>(width));
  }
}

TEST_F(ProgressBarOfARun, FillsEighthsOfABlock) {
  const std::vector<std::pair<int64_t, std::string>> rows{{0, "  0% ▕         ▏   0/10"},
                                                          {1, " 10% ▕▉        ▏   1/10"},
                                                          {5, " 50% ▕████▌    ▏   5/10"},
                                                          {9, " 90% ▕████████ ▏   9/10"},
                                                          {10, "100% ▕█████████▏  10/10"}};
  for (const auto& [done, line] : rows) {
    ProgressBar bar = make(24, true);
    run.go_to(done);
    bar.on_train_begin(run.context(), run.control);
    EXPECT_EQ(shown(), line);
  }
}

TEST_F(ProgressBarOfARun, ColoursTakeNoRoom) {
  ProgressBar bar = make(40, false, true);
  run.go_to(5);
  bar.on_train_begin(run.context(), run.control);
  written();
  now += 1;
  log(bar, {{"loss", 2}});
  EXPECT_EQ(shown(), " 50% [\x1b[36m=====>\x1b[0m      ]   5/10  \x1b[2mloss \x1b[0m2.0000");
}

TEST_F(ProgressBarOfARun, IsRedrawnTenTimesASecondAtMost) {
  ProgressBar bar = make(30);
  bar.on_train_begin(run.context(), run.control);
  written();
  int drawn = 0;
  for (int64_t i = 1; i <= 1000; ++i) {
    step(bar, 5, 0.001);
    drawn += written().empty() ? 0 : 1;
  }
  EXPECT_GE(drawn, 9);
  EXPECT_LE(drawn, 11);
}

TEST_F(ProgressBarOfARun, FrequentLogsAreShownAsRarely) {
  ProgressBar bar = make(30);
  bar.on_train_begin(run.context(), run.control);
  written();
  int drawn = 0;
  for (int i = 0; i < 1000; ++i) {
    now += 0.001;
    log(bar, {{"loss", 1}});
    drawn += written().empty() ? 0 : 1;
  }
  EXPECT_GE(drawn, 9);
  EXPECT_LE(drawn, 11);
}

TEST_F(ProgressBarOfARun, ShowsALogOfASlowStepAtOnce) {
  ProgressBar bar = make(40);
  bar.on_train_begin(run.context(), run.control);
  step(bar, 1, 5);
  written();
  log(bar, {{"loss", 7}});
  EXPECT_EQ(shown(), " 10% [>           ]   1/10  loss 7.0000");
}

TEST_F(ProgressBarOfARun, SkippedUpdatesAndNanAreSeen) {
  ProgressBar bar = make(50);
  bar.on_train_begin(run.context(), run.control);
  step(bar, 4, 2);
  run.progress.skipped = 2;
  written();
  log(bar, {{"loss", std::nan("")}, {"skipped", 2}});
  EXPECT_EQ(shown(), " 40% [====>         ]   4/10  loss nan  skipped 2");
}

TEST_F(ProgressBarOfARun, EvaluationsAreShownAndLeaveALine) {
  ProgressBar bar = make(60);
  bar.on_train_begin(run.context(), run.control);
  step(bar, 5, 5);
  written();
  bar.on_evaluation_step(run.context(), 0, 4);
  EXPECT_EQ(shown(), "evaluating   0% [                       ]  0/4  00:00<--:--");
  now += 1;
  bar.on_evaluation_step(run.context(), 2, 4);
  EXPECT_EQ(shown(), "evaluating  50% [==========>            ]  2/4  00:01<00:01");
  now += 1;
  bar.on_evaluation_step(run.context(), 4, 4);
  EXPECT_EQ(shown(), " 50% [=======>        ]   5/10    128 tokens/s  00:07<00:05");
  log(bar, {{"eval_loss", 1.25}, {"eval_runtime", 2}, {"eval_samples_per_second", 2}});
  EXPECT_EQ(written(), std::string(kClear) + "step 5/10  epoch 1.00  eval_loss 1.2500\n" + kClear +
                           " 50% [=======>        ]   5/10    128 tokens/s  00:07<00:05");
}

TEST_F(ProgressBarOfARun, AnEvaluationAloneLeavesNoBar) {
  ProgressBar bar = make(60);
  for (int64_t i = 0; i <= 2; ++i) bar.on_evaluation_step(run.context(), i, 2);
  bar.on_evaluate(run.context(), {{"eval_loss", 1}}, run.control);
  EXPECT_TRUE(written().ends_with(kClear));
}

TEST_F(ProgressBarOfARun, EvaluationsOfUnknownLengthCount) {
  ProgressBar bar = make(60);
  bar.on_evaluation_step(run.context(), 0, -1);
  now += 1;
  written();
  bar.on_evaluation_step(run.context(), 3, -1);
  EXPECT_EQ(shown(), "evaluating  3  3.00 batches/s  00:01");
}

TEST_F(ProgressBarOfARun, EndsWithASummary) {
  ProgressBar bar = make(40);
  bar.on_train_begin(run.context(), run.control);
  step(bar, 10, 3720);
  run.best = BestMetric{1.25, 5};
  run.progress.skipped = 3;
  log(bar, {{"train_loss", 2.5}, {"train_runtime", 5}});
  written();
  bar.on_train_end(run.context());
  EXPECT_EQ(written(), std::string(kClear) +
                           "100% [==============]  10/10  skipped 3\n"
                           "trained 10 updates in 1:02:00: 0.00 updates/s, 0.34 tokens/s, train_loss 2.5000, "
                           "best eval_loss 1.2500 at update 5, 3 skipped\n");
}

TEST_F(ProgressBarOfARun, SaysWhenARunWasStopped) {
  ProgressBar bar = make();
  bar.on_train_begin(run.context(), run.control);
  step(bar, 4, 2);
  bar.on_train_end(run.context());
  EXPECT_EQ(written(), "stopped after 4 of 10 updates in 00:02: 2.00 updates/s, 256 tokens/s\n");
}

TEST_F(ProgressBarOfARun, OffATerminalWritesALineForEachLog) {
  ProgressBar bar = make();
  bar.on_train_begin(run.context(), run.control);
  step(bar, 2, 1);
  EXPECT_EQ(written(), "");
  log(bar, {{"loss", 2.34512}, {"grad_norm", 1e-5}, {"learning_rate", 0.0003}, {"skipped", 1}});
  EXPECT_EQ(written(),
            "step 2/10  epoch 0.40  loss 2.3451  grad_norm 1e-05  learning_rate 3.00e-04  skipped 1  256 tokens/s  "
            "00:01<00:04\n");
  bar.on_evaluation_step(run.context(), 0, 2);
  bar.on_evaluation_step(run.context(), 1, 2);
  EXPECT_EQ(written(), "");
  log(bar, {{"eval_loss", 123456}, {"eval_runtime", 2}});
  EXPECT_EQ(written(), "step 2/10  epoch 0.40  eval_loss 1.235e+05\n");
  log(bar, {{"train_loss", 2}});
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarOfARun, CountsSamplesWhereThereAreNoTokens) {
  ProgressBar bar = make();
  bar.on_train_begin(run.context(), run.control);
  now += 2;
  run.progress = {.step = 10, .samples = 80, .tokens = 80};
  bar.on_step_end(run.context(), StepReport{}, run.control);
  bar.on_train_end(run.context());
  EXPECT_EQ(written(), "trained 10 updates in 00:02: 5.00 updates/s, 40.0 samples/s\n");
}

TEST_F(ProgressBarOfARun, ASecondRunStartsClean) {
  ProgressBar bar = make(60);
  bar.on_train_begin(run.context(), run.control);
  log(bar, {{"loss", 7}});
  bar.on_train_end(run.context());
  run.go_to(0);
  written();
  bar.on_train_begin(run.context(), run.control);
  EXPECT_EQ(shown(), "  0% [                ]   0/10  0.00 samples/s  00:00<--:--");
}

TEST_F(ProgressBarOfARun, AnAbandonedLineIsEnded) {
  {
    ProgressBar bar = make(40);
    bar.on_train_begin(run.context(), run.control);
    written();
  }
  EXPECT_EQ(written(), "\n");
}

TEST_F(ProgressBarOfARun, AStreamThatIsNoTerminalGetsNoBar) {
  ProgressBar bar({.stream = &stream});
  bar.on_train_begin(run.context(), run.control);
  EXPECT_EQ(written(), "");
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    if (before != nullptr) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_F(ProgressBarOfARun, TheLocaleDecidesAboutBlocks) {
  const std::vector<std::pair<const char*, std::string>> rows{{"C", "100% [=========]  10/10"},
                                                              {"en_US.UTF-8", "100% ▕█████████▏  10/10"},
                                                              {"C.utf8", "100% ▕█████████▏  10/10"}};
  run.go_to(10);
  for (const auto& [locale, line] : rows) {
    const Environment environment("LC_ALL", locale);
    ProgressBar bar({.stream = &stream, .redraw = true, .width = 24, .colour = false});
    bar.on_train_begin(run.context(), run.control);
    EXPECT_EQ(shown(), line) << locale;
  }
}

TEST_F(ProgressBarOfARun, NoColorTurnsColoursOff) {
  run.go_to(10);
  for (const auto& [value, line] : std::vector<std::pair<const char*, std::string>>{
           {"", "100% [\x1b[32m=========\x1b[0m]  10/10"}, {"1", "100% [=========]  10/10"}}) {
    const Environment environment("NO_COLOR", value);
    ProgressBar bar({.stream = &stream, .redraw = true, .width = 24, .unicode = false});
    bar.on_train_begin(run.context(), run.control);
    EXPECT_EQ(shown(), line);
  }
}

}  // namespace
}  // namespace lope
