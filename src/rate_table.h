#pragma once
// Learning rates ahead of time, on the device: only the device knows at once how many updates were applied.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "lope/stepper.h"

namespace lope {

/// A window of the schedule in device memory. It is moved on, with one host read, when updates have run past its end.
class RateTable {
 public:
  /// Updates that one table covers.
  static constexpr int64_t kSize = 65536;

  explicit RateTable(at::Device device) : device_(device) {}

  /// Whether the rates of [applied_at_least, attempted] are in the table.
  bool covers(int64_t attempted) const { return rates_.defined() && attempted < first_ + kSize; }
  void fill(const RateFunction& rate, int64_t applied_at_least);
  void invalidate() { rates_.reset(); }

  /// float64 {kSize}: the rates of applied updates from `first()` on.
  const at::Tensor& rates() const { return rates_; }
  int64_t first() const { return first_; }

 private:
  at::Device device_;
  at::Tensor rates_;
  int64_t first_ = 0;
};

}  // namespace lope
