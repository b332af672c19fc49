#include <fmt/format.h>
#include <lope/throughput.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace lope {
namespace {

// Work this many seconds ago weighs 1/e in the recent rates.
constexpr double kMemorySeconds = 15;
constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr double kLongest = 1e15;

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Throughput::Throughput(Clock clock) : clock_(std::move(clock)) { start(); }

void Throughput::start(const Work& done) {
  start_ = clock_();
  last_ = start_;
  paused_ = false;
  done_ = done;
  overall_ = {};
  recent_ = {};
}

void Throughput::update(const Work& done) {
  const double now = clock_();
  const double elapsed = paused_ ? 0 : now - last_;
  const Sums added{elapsed, static_cast<double>(done.steps - done_.steps),
                   static_cast<double>(done.samples - done_.samples), static_cast<double>(done.tokens - done_.tokens)};
  const double kept = std::exp(-elapsed / kMemorySeconds);
  const auto add = [&](Sums& sums, double weight) {
    sums = {sums.seconds * weight + added.seconds, sums.steps * weight + added.steps,
            sums.samples * weight + added.samples, sums.tokens * weight + added.tokens};
  };
  add(overall_, 1);
  add(recent_, kept);
  done_ = done;
  last_ = now;
}

void Throughput::pause() {
  if (paused_) return;
  update(done_);
  paused_ = true;
}

void Throughput::resume() {
  if (!paused_) return;
  last_ = clock_();
  paused_ = false;
}

Rates Throughput::divide(const Sums& sums) {
  if (sums.seconds <= 0) return {};
  return {sums.steps / sums.seconds, sums.samples / sums.seconds, sums.tokens / sums.seconds};
}

Rates Throughput::overall() const { return divide(overall_); }

Rates Throughput::recent() const { return divide(recent_); }

double Throughput::seconds() const { return clock_() - start_; }

std::optional<double> Throughput::seconds_left(int64_t total_steps) const {
  const double speed = recent().steps;
  if (speed <= 0) return std::nullopt;
  const double since_update = paused_ ? 0 : clock_() - last_;
  return std::max(0.0, static_cast<double>(total_steps - done_.steps) / speed - since_update);
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0 && seconds < kLongest)) return "--:--";
  const auto all = static_cast<int64_t>(std::llround(seconds));
  const int64_t days = all / kDay;
  const int64_t hours = all % kDay / kHour;
  const std::string rest = fmt::format("{:02}:{:02}", all % kHour / kMinute, all % kMinute);
  if (days > 0) return fmt::format("{}d {:02}:{}", days, hours, rest);
  return hours > 0 ? fmt::format("{}:{}", hours, rest) : rest;
}

std::string format_rate(double amount) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  // 999.5 would be shown as 1000.
  for (; amount >= 999.5 && unit + 1 < std::size(kUnits); ++unit) amount /= 1000;
  const int digits = amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", amount, digits, kUnits[unit]);
}

}  // namespace lope
