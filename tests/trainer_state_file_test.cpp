#include <gtest/gtest.h>
#include <lope/callbacks/trainer_state_file.h>
#include <lope/trainer_state.h>

#include <filesystem>
#include <string>

#include "support/error_of.h"
#include "support/run_in_hand.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::RunInHand;
using testing::TemporaryFolder;
using testing::write_text;

class TrainerStateFileOfARun : public ::testing::Test {
 protected:
  TrainerStateFileOfARun() { run.arguments.output_dir = folder / "out"; }

  void begin() { file.on_train_begin(run.context(), run.control); }
  void log(double seconds) {
    now += seconds;
    file.on_log(run.context(), run.log({{"loss", 2}}), run.control);
  }
  bool exists() const { return std::filesystem::exists(path()); }
  std::string path() const { return folder / "out/trainer_state.json"; }

  TemporaryFolder folder;
  RunInHand run;
  double now = 0;
  double cost = 0;  // of each look at the clock
  TrainerStateFile file{{}, [this] { return now += cost; }};
};

TEST_F(TrainerStateFileOfARun, IsWrittenAtTheEnd) {
  begin();
  run.go_to(10);
  run.best = BestMetric{1.5, 5};
  run.log({{"train_loss", 2}});
  file.on_train_end(run.context());
  const TrainerState state = TrainerState::load(path());
  EXPECT_EQ(state.global_step, 10);
  EXPECT_EQ(state.max_steps, 10);
  EXPECT_EQ(state.num_train_epochs, 2);
  EXPECT_EQ(state.epoch, 2);
  EXPECT_EQ(state.logging_steps, 2);
  EXPECT_EQ(state.eval_steps, 5);
  EXPECT_EQ(state.save_steps, 500);
  EXPECT_EQ(state.train_batch_size, 8);
  EXPECT_EQ(state.num_input_tokens_seen, 1280);
  EXPECT_EQ(state.best_metric, 1.5);
  EXPECT_EQ(state.best_global_step, 5);
  EXPECT_EQ(state.log_history.back().find("train_loss"), 2);
}

TEST_F(TrainerStateFileOfARun, IsNotWrittenMoreOftenThanEveryFiveSeconds) {
  begin();
  log(4.9);
  EXPECT_FALSE(exists());
  log(0.2);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 2);
  log(4.9);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 2);
  log(0.2);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 4);
}

TEST_F(TrainerStateFileOfARun, IsWrittenMoreRarelyWhenWritingTakesLong) {
  begin();
  log(5);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 1);
  cost = 2;  // the next one takes two seconds by this clock
  log(5);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 2);
  cost = 0;
  log(99);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 2);
  log(2);
  EXPECT_EQ(TrainerState::load(path()).log_history.size(), 4);
}

TEST_F(TrainerStateFileOfARun, IsWrittenAfterEvaluationsToo) {
  begin();
  now = 6;
  run.best = BestMetric{1.5, 0};
  file.on_evaluate(run.context(), {}, run.control);
  EXPECT_EQ(TrainerState::load(path()).best_metric, 1.5);
}

TEST_F(TrainerStateFileOfARun, TakesAPathOfItsOwn) {
  TrainerStateFile other(folder / "else/where.json");
  other.on_train_begin(run.context(), run.control);
  other.on_train_end(run.context());
  EXPECT_FALSE(exists());
  EXPECT_EQ(TrainerState::load(folder / "else/where.json").global_step, 0);
}

TEST_F(TrainerStateFileOfARun, NamesAFolderThatCannotBeMade) {
  write_text(folder / "out", "a file");
  EXPECT_EQ(error_of([&] { begin(); }),
            "cannot make the folder " + (folder / "out") + ": Not a directory; choose another output_dir");
}

}  // namespace
}  // namespace lope
