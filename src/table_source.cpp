// Micro-batches of a table.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randperm.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "loader_failure.h"
#include "loader_source.h"
#include "lope/seed.h"

namespace lope {
namespace {

at::Tensor epoch_order(int64_t size, const LoaderOptions& options, int64_t epoch) {
  if (options.sampling_strategy == SamplingStrategy::kSequential) return at::arange(size, at::kLong);
  return at::randperm(size, at::detail::createCPUGenerator(derive_seed(options.seed, static_cast<uint64_t>(epoch))),
                      at::TensorOptions(at::kLong));
}

class TableSource : public LoaderSource {
 public:
  TableSource(const Dataset& dataset, LoaderOptions loader_options)
      : LoaderSource(std::move(loader_options)), dataset_(dataset), size_(dataset.size()) {
    if (size_ == 0) throw Error("data set: it is empty: give at least one example");
    if (options.drop_last && size_ < options.batch_size) {
      throw Error(
          fmt::format("data set: its {} examples are fewer than batch_size {} and drop_last leaves them out: lower "
                      "the batch size or turn drop_last off",
                      size_, options.batch_size));
    }
  }

  void plan_from(LoaderPosition position) override { planned_ = position; }
  void plan_again_from(LoaderPosition position) override { planned_ = position; }

  std::optional<LoaderJob> next_job() override {
    const int64_t count = std::min(options.batch_size, *examples_per_epoch() - planned_.examples);
    if (count <= 0) return std::nullopt;
    prepare_order();
    LoaderJob job{.epoch = planned_.epoch, .first = planned_.examples, .count = count, .order = order_};
    planned_.examples += count;
    return job;
  }

  bool concurrent() const override { return true; }

  std::optional<int64_t> examples_per_epoch() const override {
    return options.drop_last ? size_ / options.batch_size * options.batch_size : size_;
  }

  void check(LoaderPosition position) const override {
    if (position.epoch >= 0 && position.examples >= 0 && position.examples <= *examples_per_epoch()) return;
    throw Error(fmt::format("loader: there is no example {} of epoch {}: an epoch has {}", position.examples,
                            position.epoch, *examples_per_epoch()));
  }

 private:
  PreparedBatch gather(const LoaderJob& job) override {
    const std::span indices(job.order.const_data_ptr<int64_t>() + job.first, static_cast<size_t>(job.count));
    return {.batch = join(job, indices), .examples = job.count};
  }

  void prepare_order() {
    const bool same = order_.defined() &&
                      (order_epoch_ == planned_.epoch || options.sampling_strategy == SamplingStrategy::kSequential);
    if (same) return;
    order_ = epoch_order(size_, options, planned_.epoch);
    order_epoch_ = planned_.epoch;
  }

  bool augments() const { return options.augment && dataset_.augments(); }

  Batch join(const LoaderJob& job, std::span<const int64_t> indices) const {
    if (!augments()) {
      auto batch = naming_the_place([&] { return dataset_.get_batch(indices); },
                                    [&] { return fmt::format("data set: examples {}", fmt::join(indices, ", ")); });
      if (batch) return std::move(*batch);
    }
    std::vector<Batch> examples;
    examples.reserve(indices.size());
    for (const int64_t index : indices) {
      examples.push_back(naming_the_place([&] { return get_one(job.epoch, index); },
                                          [&] { return fmt::format("data set: example {}", index); }));
    }
    return naming_the_place([&] { return options.collator(examples); },
                            [&] {
                              return fmt::format("loader: examples {} to {} of epoch {}", job.first,
                                                 job.first + job.count - 1, job.epoch);
                            });
  }

  Batch get_one(int64_t epoch, int64_t index) const {
    if (!augments()) return dataset_.get(index);
    // One a thread, seeded anew for each example: making one costs more than the seed.
    thread_local at::Generator generator = at::detail::createCPUGenerator();
    const uint64_t seed =
        derive_seed(derive_seed(options.seed, static_cast<uint64_t>(epoch)), static_cast<uint64_t>(index));
    generator.set_current_seed(seed);
    return dataset_.get_augmented(index, generator);
  }

  const Dataset& dataset_;
  int64_t size_;
  LoaderPosition planned_;
  at::Tensor order_;
  int64_t order_epoch_ = -1;
};

}  // namespace

std::unique_ptr<LoaderSource> make_source(const Dataset& dataset, LoaderOptions options) {
  return std::make_unique<TableSource>(dataset, std::move(options));
}

}  // namespace lope
