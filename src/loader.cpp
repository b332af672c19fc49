#include "lope/loader.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randperm.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "lope/error.h"
#include "lope/seed.h"

namespace lope {

class Loader::Source {
 public:
  explicit Source(LoaderOptions loader_options) : options(std::move(loader_options)) {}
  virtual ~Source() = default;
  virtual std::optional<Batch> next() = 0;
  virtual void seek(LoaderPosition to) = 0;
  virtual std::optional<int64_t> examples_per_epoch() const = 0;

  LoaderOptions options;
  LoaderPosition position;
};

namespace {

at::Tensor epoch_order(int64_t size, const LoaderOptions& options, int64_t epoch) {
  if (options.sampling_strategy == SamplingStrategy::kSequential) return at::arange(size, at::kLong);
  return at::randperm(size, at::detail::createCPUGenerator(derive_seed(options.seed, static_cast<uint64_t>(epoch))),
                      at::TensorOptions(at::kLong));
}

struct Augmentation {
  bool on = false;
  uint64_t seed = 0;
};

Batch get_one(const Dataset& dataset, int64_t index, Augmentation augmentation) {
  try {
    if (!augmentation.on) return dataset.get(index);
    const uint64_t seed = derive_seed(augmentation.seed, static_cast<uint64_t>(index));
    return dataset.get_augmented(index, at::detail::createCPUGenerator(seed));
  } catch (const std::exception& error) {
    throw Error(fmt::format("data set: example {}: {}", index, first_line(error.what())));
  }
}

std::optional<Batch> get_many(const Dataset& dataset, std::span<const int64_t> indices) {
  try {
    return dataset.get_batch(indices);
  } catch (const std::exception& error) {
    throw Error(fmt::format("data set: examples {}: {}", fmt::join(indices, ", "), first_line(error.what())));
  }
}

Batch collate(const Collator& collator, const std::vector<Batch>& examples, int64_t first, int64_t epoch) {
  try {
    return collator(examples);
  } catch (const std::exception& error) {
    throw Error(fmt::format("loader: examples {} to {} of epoch {}: {}", first,
                            first + static_cast<int64_t>(examples.size()) - 1, epoch, first_line(error.what())));
  }
}

void check_batch_size(const LoaderOptions& options) {
  if (options.batch_size < 1) throw Error(fmt::format("batch_size is {}: it must be 1 or more", options.batch_size));
}

}  // namespace

class Loader::TableSource : public Loader::Source {
 public:
  TableSource(const Dataset& dataset, LoaderOptions loader_options)
      : Source(std::move(loader_options)), dataset_(dataset), size_(dataset.size()) {
    check_batch_size(options);
    if (size_ == 0) throw Error("data set: it is empty: give at least one example");
    if (options.drop_last && size_ < options.batch_size) {
      throw Error(
          fmt::format("data set: its {} examples are fewer than batch_size {} and drop_last leaves them out: lower "
                      "the batch size or turn drop_last off",
                      size_, options.batch_size));
    }
  }

  std::optional<Batch> next() override {
    const int64_t count = std::min(options.batch_size, *examples_per_epoch() - position.examples);
    if (count <= 0) return std::nullopt;
    prepare_order();
    const std::span indices(order_.const_data_ptr<int64_t>() + position.examples, static_cast<size_t>(count));
    Batch batch = gather(indices);
    position.examples += count;
    return batch;
  }

  void seek(LoaderPosition to) override {
    if (to.epoch < 0 || to.examples < 0 || to.examples > *examples_per_epoch()) {
      throw Error(fmt::format("loader: there is no example {} of epoch {}: an epoch has {}", to.examples, to.epoch,
                              *examples_per_epoch()));
    }
    position = to;
  }

  std::optional<int64_t> examples_per_epoch() const override {
    return options.drop_last ? size_ / options.batch_size * options.batch_size : size_;
  }

 private:
  void prepare_order() {
    const bool same = order_.defined() &&
                      (order_epoch_ == position.epoch || options.sampling_strategy == SamplingStrategy::kSequential);
    if (same) return;
    order_ = epoch_order(size_, options, position.epoch);
    order_epoch_ = position.epoch;
  }

  Batch gather(std::span<const int64_t> indices) {
    const Augmentation augmentation{options.augment && dataset_.augments(),
                                    derive_seed(~options.seed, static_cast<uint64_t>(position.epoch))};
    if (!augmentation.on) {
      if (auto batch = get_many(dataset_, indices)) return std::move(*batch);
    }
    std::vector<Batch> examples;
    examples.reserve(indices.size());
    for (const int64_t index : indices) examples.push_back(get_one(dataset_, index, augmentation));
    return collate(options.collator, examples, position.examples, position.epoch);
  }

  const Dataset& dataset_;
  int64_t size_;
  at::Tensor order_;
  int64_t order_epoch_ = -1;
};

class Loader::StreamSource : public Loader::Source {
 public:
  StreamSource(const IterableDataset& dataset, LoaderOptions loader_options)
      : Source(std::move(loader_options)), dataset_(dataset) {
    check_batch_size(options);
  }

  std::optional<Batch> next() override {
    if (stream_ == nullptr) stream_ = dataset_.begin(options.seed, position.epoch);
    while (waiting() < options.batch_size) {
      auto example = read(waiting());
      if (!example) break;
      waiting_.push_back(std::move(*example));
    }
    const bool partial = waiting() < options.batch_size;
    if (waiting_.empty() || (partial && options.drop_last)) return std::nullopt;
    Batch batch = collate(options.collator, waiting_, position.examples, position.epoch);
    position.examples += waiting();
    waiting_.clear();
    return batch;
  }

  void seek(LoaderPosition to) override {
    stream_ = dataset_.begin(options.seed, to.epoch);
    waiting_.clear();
    position = {.epoch = to.epoch};
    for (; position.examples < to.examples; ++position.examples) {
      if (!read(0)) {
        throw Error(fmt::format("loader: the stream of epoch {} ends after {} examples: it can't go on at example {}",
                                to.epoch, position.examples, to.examples));
      }
    }
  }

  std::optional<int64_t> examples_per_epoch() const override { return std::nullopt; }

 private:
  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }

  std::optional<Batch> read(int64_t ahead) {
    try {
      return stream_->next();
    } catch (const std::exception& error) {
      throw Error(fmt::format("stream: example {} of epoch {}: {}", position.examples + ahead, position.epoch,
                              first_line(error.what())));
    }
  }

  const IterableDataset& dataset_;
  std::unique_ptr<ExampleStream> stream_;
  /// Read but not handed out: kept when a later example of the micro-batch fails.
  std::vector<Batch> waiting_;
};

Loader::Loader(const Dataset& dataset, LoaderOptions options)
    : source_(std::make_unique<TableSource>(dataset, std::move(options))) {}

Loader::Loader(const IterableDataset& dataset, LoaderOptions options)
    : source_(std::make_unique<StreamSource>(dataset, std::move(options))) {}

Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

std::optional<Batch> Loader::next() {
  auto batch = source_->next();
  if (batch && source_->options.pin_memory) return batch->pin();
  return batch;
}

LoaderPosition Loader::position() const { return source_->position; }

void Loader::seek(LoaderPosition position) { source_->seek(position); }

std::optional<int64_t> Loader::examples_per_epoch() const { return source_->examples_per_epoch(); }

std::optional<int64_t> Loader::batches_per_epoch() const {
  const auto examples = examples_per_epoch();
  if (!examples) return std::nullopt;
  return (*examples + source_->options.batch_size - 1) / source_->options.batch_size;
}

}  // namespace lope
