#include "lope/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace lope::testing {
namespace {

void wait_for(const std::stop_token& token) {
  while (!token.stop_requested()) std::this_thread::yield();
}

using Handler = void (*)(int);

Handler present_handler(int number) {
  struct sigaction action{};
  sigaction(number, nullptr, &action);
  return action.sa_handler;
}

TEST(StopSignals, TurnASignalIntoARequestAndTheUsualExitCode) {
  const StopSignals signals;
  const std::stop_token token = signals.token();
  EXPECT_FALSE(token.stop_requested());
  EXPECT_EQ(signals.exit_code(), 0);
  std::raise(SIGTERM);
  wait_for(token);
  EXPECT_EQ(signals.signal(), SIGTERM);
  EXPECT_EQ(signals.exit_code(), 143);
}

TEST(StopSignals, ForgetTheSignalOfAnEarlierTime) {
  {
    const StopSignals signals;
    std::raise(SIGINT);
    wait_for(signals.token());
    EXPECT_EQ(signals.exit_code(), 130);
  }
  const StopSignals again;
  EXPECT_EQ(again.exit_code(), 0);
}

TEST(StopSignals, PutTheDefaultBack) {
  {
    const StopSignals signals;
  }
  EXPECT_EQ(present_handler(SIGTERM), SIG_DFL);
  EXPECT_EQ(present_handler(SIGINT), SIG_DFL);
}

TEST(StopSignals, LeaveAHandlerOfTheProgramAndAnIgnoredSignalAlone) {
  const Handler own = [](int) {};
  std::signal(SIGTERM, own);
  std::signal(SIGINT, SIG_IGN);
  {
    const StopSignals signals;
    EXPECT_EQ(present_handler(SIGTERM), own);
    EXPECT_EQ(present_handler(SIGINT), SIG_IGN);
  }
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
}

TEST(StopSignals, ASecondOneAtATimeCatchesNothing) {
  const StopSignals first;
  {
    const StopSignals second;
    std::raise(SIGTERM);
    wait_for(first.token());
    EXPECT_FALSE(second.token().stop_requested());
    EXPECT_EQ(second.exit_code(), 0);
  }
  EXPECT_EQ(first.exit_code(), 143);
}

TEST(StopSignalsDeathTest, ASecondInterruptEndsTheProcessAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGINT);
        wait_for(signals.token());
        std::raise(SIGINT);
        ::pause();
      },
      ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace lope::testing
