#include "table_source.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <vector>

#include "lope/seed.h"

namespace lope {
namespace {

void check_size(int64_t examples, int64_t handed_out, const LoaderOptions& options) {
  if (examples == 0) throw Error("data set: it is empty: give at least one example");
  if (handed_out > 0) return;
  const std::string ranks = options.world_size > 1 ? fmt::format(" on each of {} ranks", options.world_size) : "";
  throw Error(
      fmt::format("data set: its {} examples are fewer than batch_size {}{} and drop_last leaves them out: lower the "
                  "batch size or turn drop_last off",
                  examples, options.batch_size, ranks));
}

}  // namespace

class TableSource::Task : public LoaderTask {
 public:
  Task(TableSource& source, LoaderPosition from)
      : source_(source),
        from_(from),
        augmentation_seed_(derive_seed(~source.options_.seed, static_cast<uint64_t>(from.epoch))) {}

  std::optional<LoadedBatch> make(int64_t number, Workplace& place) override {
    const int64_t first = from_.examples + number * options().batch_size;
    const int64_t count = std::min(options().batch_size, source_.sampler_.size() - first);
    if (count <= 0) return std::nullopt;
    const at::Tensor order = source_.sampler_.order(from_.epoch);
    const std::span indices(order.const_data_ptr<int64_t>() + first, static_cast<size_t>(count));
    auto batch = gather(indices, first, place);
    if (!batch) return std::nullopt;
    return LoadedBatch{.batch = std::move(*batch), .examples = count};
  }

 private:
  const LoaderOptions& options() const { return source_.options_; }
  bool augments() const { return options().augment && source_.dataset_.augments(); }

  std::optional<Batch> gather(std::span<const int64_t> indices, int64_t first, Workplace& place) const {
    place.example = indices.front();
    if (!augments()) {
      if (auto batch = get_many(indices)) return batch;
    }
    std::vector<Batch> examples;
    examples.reserve(indices.size());
    for (const int64_t index : indices) {
      if (place.cancelled) return std::nullopt;
      place.example = index;
      examples.push_back(get_one(index, place));
    }
    return naming_errors([&] { return options().collator(examples); },
                         [&] {
                           return fmt::format("loader: examples {} to {} of epoch {}", first,
                                              first + static_cast<int64_t>(indices.size()) - 1, from_.epoch);
                         });
  }

  std::optional<Batch> get_many(std::span<const int64_t> indices) const {
    return naming_errors([&] { return source_.dataset_.get_batch(indices); },
                         [&] { return fmt::format("data set: examples {}", fmt::join(indices, ", ")); });
  }

  Batch get_one(int64_t index, Workplace& place) const {
    return naming_errors([&] { return augments() ? get_augmented(index, place) : source_.dataset_.get(index); },
                         [&] { return fmt::format("data set: example {}", index); });
  }

  Batch get_augmented(int64_t index, Workplace& place) const {
    if (!place.generator.defined()) place.generator = at::detail::createCPUGenerator();
    place.generator.set_current_seed(derive_seed(augmentation_seed_, static_cast<uint64_t>(index)));
    return source_.dataset_.get_augmented(index, place.generator);
  }

  TableSource& source_;
  LoaderPosition from_;
  uint64_t augmentation_seed_;
};

TableSource::TableSource(const Dataset& dataset, const LoaderOptions& options)
    : dataset_(dataset), options_(options), sampler_(dataset, options) {
  check_size(dataset.size(), sampler_.size(), options);
}

std::shared_ptr<LoaderTask> TableSource::begin(LoaderPosition from) {
  if (from.epoch < 0 || from.examples < 0 || from.examples > sampler_.size()) {
    throw Error(fmt::format("loader: there is no example {} of epoch {}: an epoch has {}", from.examples, from.epoch,
                            sampler_.size()));
  }
  return std::make_shared<Task>(*this, from);
}

}  // namespace lope
