#pragma once
// How fast a run is, and how long it will take.
//
//   lope::Throughput throughput;
//   throughput.start();
//   throughput.update({.steps = 10, .samples = 320, .tokens = 40960});   // all that was done so far
//   throughput.overall().tokens;          // tokens a second since start()
//   throughput.seconds_left(1000);        // until update 1000, at the recent speed

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lope {

/// Seconds since some fixed moment; never goes back.
using Clock = std::function<double()>;

/// The clock of the machine.
double steady_seconds();

/// Amounts of work.
struct Work {
  int64_t steps = 0;
  int64_t samples = 0;
  int64_t tokens = 0;
};

/// Amounts of work a second; 0 before any time has passed.
struct Rates {
  double steps = 0;
  double samples = 0;
  double tokens = 0;
};

/// Counts work against a clock. Reads nothing from a device.
class Throughput {
 public:
  explicit Throughput(Clock clock = steady_seconds);

  /// Begins to count. `done` is what was done before: a resumed run has done something already.
  void start(const Work& done = {});
  /// Takes the totals up to now, what was done before `start` included.
  void update(const Work& done);
  /// Time between the two belongs to something else, such as an evaluation, and counts for no rate.
  void pause();
  void resume();

  /// Since `start`.
  Rates overall() const;
  /// Over the last half minute or so: older work counts less and less.
  Rates recent() const;
  /// Since `start`, pauses included.
  double seconds() const;
  /// Until `total_steps` at the recent speed; nullopt while no step has been done.
  std::optional<double> seconds_left(int64_t total_steps) const;

 private:
  struct Sums {
    double seconds = 0;
    double steps = 0;
    double samples = 0;
    double tokens = 0;
  };
  static Rates divide(const Sums& sums);

  Clock clock_;
  double start_ = 0;
  double last_ = 0;
  bool paused_ = false;
  Work done_;
  Sums overall_;
  Sums recent_;
};

/// "00:42", "1:02:03", "2d 01:02:03"; "--:--" for a negative or non-finite number.
std::string format_duration(double seconds);

/// Three digits and a unit of a thousand: "0.42", "7.13", "123", "12.3k", "4.56M".
std::string format_rate(double amount);

}  // namespace lope
