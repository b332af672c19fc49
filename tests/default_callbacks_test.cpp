#include <gtest/gtest.h>
#include <lope/callbacks/default_callbacks.h>
#include <lope/callbacks/message_lines.h>
#include <lope/callbacks/progress_bar.h>
#include <lope/callbacks/trainer_state_file.h>

namespace lope {
namespace {

template <typename T>
bool is(const std::unique_ptr<Callback>& callback) {
  return dynamic_cast<const T*>(callback.get()) != nullptr;
}

TEST(DefaultCallbacks, ShowProgressAndKeepTheState) {
  for (const std::optional<bool> disable_tqdm : {std::optional<bool>(), std::optional<bool>(false)}) {
    const auto callbacks = default_callbacks({.disable_tqdm = disable_tqdm});
    ASSERT_EQ(callbacks.size(), 2);
    EXPECT_TRUE(is<ProgressBar>(callbacks[0]));
    EXPECT_TRUE(is<TrainerStateFile>(callbacks[1]));
  }
}

TEST(DefaultCallbacks, DisableTqdmLeavesMessagesOnly) {
  const auto callbacks = default_callbacks({.disable_tqdm = true});
  ASSERT_EQ(callbacks.size(), 2);
  EXPECT_TRUE(is<MessageLines>(callbacks[0]));
  EXPECT_TRUE(is<TrainerStateFile>(callbacks[1]));
}

}  // namespace
}  // namespace lope
