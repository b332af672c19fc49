#include "sampler.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "loader_task.h"
#include "lope/error.h"
#include "lope/seed.h"

namespace lope {
namespace {

constexpr int64_t kBatchesSortedTogether = 50;

std::span<int64_t> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), static_cast<size_t>(tensor.numel())};
}

void check_weights(const LoaderOptions& options, int64_t examples) {
  const std::vector<double>& weights = options.weights;
  if (options.sampling_strategy != SamplingStrategy::kWeighted) {
    if (weights.empty()) return;
    throw Error("loader: there are weights, but the order is not weighted: set sampling_strategy to kWeighted");
  }
  if (static_cast<int64_t>(weights.size()) != examples) {
    throw Error(
        fmt::format("loader: there are {} weights for {} examples: give one for each", weights.size(), examples));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] >= 0.0) continue;
    throw Error(fmt::format("loader: the weight of example {} is {}: it must be 0 or more and finite", i, weights[i]));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum > 0.0 && std::isfinite(sum)) return;
  throw Error(fmt::format("loader: the weights add up to {}: at least one must be above 0, and their sum finite", sum));
}

int64_t length_of(const Dataset& dataset, int64_t index) {
  const auto length = naming_errors([&] { return dataset.length(index); },
                                    [&] { return fmt::format("data set: length of example {}", index); });
  if (length) return *length;
  throw Error(
      fmt::format("data set: the length of example {} is not known, and the order is by lengths: override "
                  "Dataset::length, or choose random or sequential sampling",
                  index));
}

int64_t share_of(int64_t examples, const LoaderOptions& options) {
  const int64_t ranks = options.world_size;
  if (!options.drop_last) return (examples + ranks - 1) / ranks;
  return examples / ranks / options.batch_size * options.batch_size;
}

}  // namespace

Sampler::Sampler(const Dataset& dataset, const LoaderOptions& options)
    : dataset_(dataset), options_(options), examples_(dataset.size()), size_(share_of(examples_, options)) {
  check_weights(options, examples_);
  if (!options.weights.empty()) {
    const at::Tensor sums = at::tensor(options.weights, at::kDouble).cumsum(0);
    cumulated_shares_ = sums.div(sums[-1]);
  }
  if (options.sampling_strategy == SamplingStrategy::kGroupByLength && examples_ > 0) length_of(dataset, 0);
}

at::Tensor Sampler::order(int64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (order_.defined() && order_epoch_ == epoch) return order_;
  order_ = shard(whole_order(epoch));
  order_epoch_ = epoch;
  return order_;
}

at::Tensor Sampler::whole_order(int64_t epoch) {
  const at::Generator generator =
      at::detail::createCPUGenerator(derive_seed(options_.seed, static_cast<uint64_t>(epoch)));
  switch (options_.sampling_strategy) {
    case SamplingStrategy::kSequential:
      return at::arange(examples_, at::kLong);
    case SamplingStrategy::kGroupByLength:
      return grouped_by_length(generator);
    case SamplingStrategy::kWeighted:
      return at::searchsorted(cumulated_shares_, at::rand({examples_}, generator, at::TensorOptions(at::kDouble)),
                              false, true);
    case SamplingStrategy::kRandom:
      break;
  }
  return at::randperm(examples_, generator, at::TensorOptions(at::kLong));
}

// As transformers' get_length_grouped_indices: stretches of a permutation, each sorted with the longest first; the
// longest of all comes first, so that what doesn't fit in memory fails at once.
at::Tensor Sampler::grouped_by_length(const at::Generator& generator) {
  at::Tensor order = at::randperm(examples_, generator, at::TensorOptions(at::kLong));
  const std::span<int64_t> places = values_of(order);
  const std::span<const int64_t> length = values_of(lengths());
  const auto longer = [&](int64_t a, int64_t b) {
    return length[static_cast<size_t>(a)] > length[static_cast<size_t>(b)];
  };
  const int64_t batch = options_.batch_size * options_.world_size;
  const int64_t batches = std::max<int64_t>(std::min(examples_ / (batch * 4), kBatchesSortedTogether), 1);
  const auto stretch = static_cast<size_t>(batches * batch);
  for (size_t first = 0; first < places.size(); first += stretch) {
    std::ranges::stable_sort(places.subspan(first, std::min(stretch, places.size() - first)), longer);
  }
  std::iter_swap(places.begin(), std::ranges::min_element(places, longer));
  return order;
}

const at::Tensor& Sampler::lengths() {
  if (lengths_.defined()) return lengths_;
  const at::Tensor lengths = at::empty({examples_}, at::kLong);
  const std::span<int64_t> values = values_of(lengths);
  for (int64_t i = 0; i < examples_; ++i) values[static_cast<size_t>(i)] = length_of(dataset_, i);
  return lengths_ = lengths;
}

at::Tensor Sampler::shard(const at::Tensor& order) const {
  if (options_.world_size == 1) return order;
  const int64_t wanted = size_ * options_.world_size;
  const int64_t repeats = (wanted + examples_ - 1) / examples_;
  const at::Tensor filled = repeats > 1 ? order.repeat({repeats}) : order;
  return filled.slice(0, options_.rank, wanted, options_.world_size).contiguous();
}

}  // namespace lope
