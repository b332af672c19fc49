#pragma once
// The order of an epoch: a function of seed, epoch and what is asked for, the same on every rank.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>

#include "lope/dataset.h"
#include "lope/loader.h"

namespace lope {

class Sampler {
 public:
  /// Throws Error for options that don't fit the data set. Both outlive the sampler.
  Sampler(const Dataset& dataset, const LoaderOptions& options);

  /// Examples that this rank hands out an epoch.
  int64_t size() const { return size_; }
  /// This rank's examples (size(), int64) in the order of `epoch`. Kept until another epoch is asked for; threads may
  /// ask at the same time.
  at::Tensor order(int64_t epoch);

 private:
  at::Tensor whole_order(int64_t epoch);
  at::Tensor grouped_by_length(const at::Generator& generator);
  at::Tensor shard(const at::Tensor& order) const;
  const at::Tensor& lengths();

  const Dataset& dataset_;
  const LoaderOptions& options_;
  int64_t examples_;
  int64_t size_;

  std::mutex mutex_;
  at::Tensor order_;
  int64_t order_epoch_ = -1;
  at::Tensor lengths_;
  at::Tensor cumulated_shares_;
};

}  // namespace lope
