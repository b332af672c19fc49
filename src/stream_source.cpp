#include "stream_source.h"

#include <vector>

namespace lope {

class StreamSource::Task : public LoaderTask {
 public:
  Task(const StreamSource& source, LoaderPosition from)
      : options_(source.options_),
        stream_(source.dataset_.begin(source.options_.seed, from.epoch)),
        position_{.epoch = from.epoch} {
    for (; position_.examples < from.examples; ++position_.examples) {
      if (read()) continue;
      throw Error(fmt::format("loader: the stream of epoch {} ends after {} examples: it can't go on at example {}",
                              from.epoch, position_.examples, from.examples));
    }
  }

  std::optional<LoadedBatch> make(int64_t /*number*/, Workplace& place) override {
    while (waiting() < options_.batch_size) {
      if (place.cancelled) return std::nullopt;
      place.example = position_.examples + waiting();
      auto example = read();
      if (!example) break;
      waiting_.push_back(std::move(*example));
    }
    const bool partial = waiting() < options_.batch_size;
    if (waiting_.empty() || (partial && options_.drop_last)) return std::nullopt;
    LoadedBatch loaded{.batch = collate(), .examples = waiting()};
    position_.examples += waiting();
    waiting_.clear();
    return loaded;
  }

 private:
  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }

  std::optional<Batch> read() {
    return naming_errors(
        [&] { return stream_->next(); },
        [&] { return fmt::format("stream: example {} of epoch {}", position_.examples + waiting(), position_.epoch); });
  }

  Batch collate() const {
    return naming_errors([&] { return options_.collator(waiting_); },
                         [&] {
                           return fmt::format("loader: examples {} to {} of epoch {}", position_.examples,
                                              position_.examples + waiting() - 1, position_.epoch);
                         });
  }

  const LoaderOptions& options_;
  std::unique_ptr<ExampleStream> stream_;
  LoaderPosition position_;
  /// Read but not handed out: kept when a later example of the micro-batch fails.
  std::vector<Batch> waiting_;
};

StreamSource::StreamSource(const IterableDataset& dataset, const LoaderOptions& options)
    : dataset_(dataset), options_(options) {
  const SamplingStrategy strategy = options.sampling_strategy;
  if (strategy == SamplingStrategy::kGroupByLength || strategy == SamplingStrategy::kWeighted) {
    throw Error("loader: a stream has its own order: choose random or sequential sampling, or give a Dataset");
  }
  if (options.world_size > 1) {
    throw Error(
        "loader: a stream is not shared out among ranks: let each rank's stream give its own examples, and set "
        "world_size to 1");
  }
}

std::shared_ptr<LoaderTask> StreamSource::begin(LoaderPosition from) { return std::make_shared<Task>(*this, from); }

}  // namespace lope
