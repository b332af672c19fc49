#include <gtest/gtest.h>
#include <lope/throughput.h>

#include <cmath>
#include <limits>

namespace lope {
namespace {

struct ThroughputCount : testing::Test {
  double now = 100;
  Throughput throughput{[this] { return now; }};

  void work(double seconds, const Work& done) {
    now += seconds;
    throughput.update(done);
  }
};

TEST_F(ThroughputCount, NothingIsZero) {
  EXPECT_EQ(throughput.overall().steps, 0);
  EXPECT_EQ(throughput.recent().tokens, 0);
  EXPECT_EQ(throughput.seconds(), 0);
  EXPECT_EQ(throughput.seconds_left(10), std::nullopt);
}

TEST_F(ThroughputCount, AmountsAreDividedByTheSeconds) {
  work(2, {.steps = 4, .samples = 32, .tokens = 4096});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 2);
  EXPECT_DOUBLE_EQ(throughput.overall().samples, 16);
  EXPECT_DOUBLE_EQ(throughput.overall().tokens, 2048);
  EXPECT_DOUBLE_EQ(throughput.recent().tokens, 2048);
  EXPECT_DOUBLE_EQ(throughput.seconds(), 2);
}

TEST_F(ThroughputCount, ALongFirstStepCountsInTheRunButFadesFromTheRecent) {
  work(10, {.steps = 1});
  for (int64_t step = 2; step <= 101; ++step) work(1, {.steps = step});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 101.0 / 110);
  EXPECT_NEAR(throughput.recent().steps, 1, 0.002);
  EXPECT_LT(throughput.recent().steps, 1);
}

TEST_F(ThroughputCount, ASteadySpeedIsTheSameInBoth) {
  for (int64_t step = 1; step <= 50; ++step) work(0.5, {.steps = step, .samples = 8 * step});
  EXPECT_NEAR(throughput.recent().samples, 16, 1e-9);
  EXPECT_NEAR(throughput.overall().samples, 16, 1e-9);
}

TEST_F(ThroughputCount, WhatAResumedRunHadDoneIsNotItsSpeed) {
  throughput.start({.steps = 900, .samples = 9000, .tokens = 90000});
  work(10, {.steps = 910, .samples = 9100, .tokens = 91000});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 1);
  EXPECT_DOUBLE_EQ(throughput.overall().samples, 10);
  EXPECT_DOUBLE_EQ(throughput.overall().tokens, 100);
  EXPECT_DOUBLE_EQ(throughput.seconds_left(1000).value(), 90);
}

TEST_F(ThroughputCount, TimeLeftRunsDownBetweenUpdates) {
  work(2, {.steps = 1});
  EXPECT_DOUBLE_EQ(throughput.seconds_left(11).value(), 20);
  now += 1;
  EXPECT_DOUBLE_EQ(throughput.seconds_left(11).value(), 19);
  now += 100;
  EXPECT_DOUBLE_EQ(throughput.seconds_left(11).value(), 0);
}

TEST_F(ThroughputCount, PausesBelongToNoRate) {
  work(2, {.steps = 2});
  throughput.pause();
  now += 50;
  EXPECT_DOUBLE_EQ(throughput.seconds_left(4).value(), 2);
  throughput.resume();
  work(2, {.steps = 4});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 1);
  EXPECT_NEAR(throughput.recent().steps, 1, 1e-12);
  EXPECT_DOUBLE_EQ(throughput.seconds(), 54);
}

TEST_F(ThroughputCount, WorkReportedInAPauseBringsNoTime) {
  work(2, {.steps = 2});
  throughput.pause();
  work(50, {.steps = 4});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 2);
}

TEST_F(ThroughputCount, TimeBeforeAPauseCounts) {
  work(1, {.steps = 1});
  now += 1;
  throughput.pause();
  throughput.resume();
  work(0, {.steps = 2});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 1);
}

TEST_F(ThroughputCount, StartBeginsAnew) {
  work(1, {.steps = 100});
  throughput.start();
  work(1, {.steps = 3});
  EXPECT_DOUBLE_EQ(throughput.overall().steps, 3);
  EXPECT_DOUBLE_EQ(throughput.recent().steps, 3);
}

TEST(SteadySeconds, NeverGoBack) {
  const double before = steady_seconds();
  EXPECT_GE(steady_seconds(), before);
}

TEST(FormatDuration, ShowsTheLargestUnitsThatAreNeeded) {
  EXPECT_EQ(format_duration(0), "00:00");
  EXPECT_EQ(format_duration(41.6), "00:42");
  EXPECT_EQ(format_duration(59.6), "01:00");
  EXPECT_EQ(format_duration(62), "01:02");
  EXPECT_EQ(format_duration(3723), "1:02:03");
  EXPECT_EQ(format_duration(36000), "10:00:00");
  EXPECT_EQ(format_duration(2 * 86400 + 3723), "2d 01:02:03");
}

TEST(FormatDuration, ShowsUnknownTimesAsDashes) {
  EXPECT_EQ(format_duration(-1), "--:--");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "--:--");
  EXPECT_EQ(format_duration(std::nan("")), "--:--");
}

TEST(FormatRate, HasThreeDigits) {
  EXPECT_EQ(format_rate(0), "0.00");
  EXPECT_EQ(format_rate(0.4249), "0.42");
  EXPECT_EQ(format_rate(9.996), "10.0");
  EXPECT_EQ(format_rate(99.96), "100");
  EXPECT_EQ(format_rate(123.4), "123");
  EXPECT_EQ(format_rate(999.6), "1.00k");
  EXPECT_EQ(format_rate(12345), "12.3k");
  EXPECT_EQ(format_rate(4560000), "4.56M");
  EXPECT_EQ(format_rate(7.5e16), "75000T");
}

}  // namespace
}  // namespace lope
