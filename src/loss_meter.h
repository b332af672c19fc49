#pragma once
// Mean losses between logs and over a run, from the Stepper's sums.

#include <cstdint>
#include <limits>

#include "lope/step_report.h"

namespace lope {

class LossMeter {
 public:
  struct Mean {
    void add(double more, int64_t count) {
      sum += more;
      windows += count;
    }
    double value() const {
      return windows == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(windows);
    }
    double sum = 0;
    int64_t windows = 0;
  };

  /// Takes what the stepper has summed up since it was last asked.
  void add(const StepTotals& totals) {
    recent_.add(totals.loss_sum, totals.windows);
    run_.add(totals.loss_sum, totals.windows);
  }
  /// Mean since the last call; NaN when no window counted.
  double take_recent() {
    const double mean = recent_.value();
    recent_ = {};
    return mean;
  }
  double run_mean() const { return run_.value(); }

  const Mean& recent() const { return recent_; }
  /// Goes on in the middle of a logging interval. `unread` is what the stepper had summed up before: it counts for the
  /// next log, but not for this run.
  void resume(const Mean& recent, const Mean& unread) {
    recent_ = recent;
    run_ = {-unread.sum, -unread.windows};
  }

 private:
  Mean recent_;
  Mean run_;
};

}  // namespace lope
