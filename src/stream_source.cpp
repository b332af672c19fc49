// Micro-batches of a stream, read one after the other.

#include <fmt/format.h>

#include <vector>

#include "loader_failure.h"
#include "loader_source.h"

namespace lope {
namespace {

class StreamSource : public LoaderSource {
 public:
  StreamSource(const IterableDataset& dataset, LoaderOptions loader_options)
      : LoaderSource(std::move(loader_options)), dataset_(dataset) {}

  /// Reads past what came before, in the caller's thread; what has been read but not handed out is read again.
  void plan_from(LoaderPosition position) override {
    position_ = {.epoch = position.epoch};
    waiting_.clear();
    ended_ = false;
    stream_ = dataset_.begin(options.seed, position.epoch);
    for (; position_.examples < position.examples; ++position_.examples) {
      if (read()) continue;
      throw Error(fmt::format("loader: the stream of epoch {} ends after {} examples: it can't go on at example {}",
                              position.epoch, position_.examples, position.examples));
    }
  }

  /// A stream has moved on: what it had read before the failing example waits in `waiting_`.
  void plan_again_from(LoaderPosition) override {}

  std::optional<LoaderJob> next_job() override {
    return LoaderJob{.epoch = position_.epoch, .count = options.batch_size};
  }

  bool concurrent() const override { return false; }
  std::optional<int64_t> examples_per_epoch() const override { return std::nullopt; }
  void check(LoaderPosition) const override {}

 private:
  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }

  PreparedBatch gather(const LoaderJob& job) override {
    const int64_t count = job.count;
    if (stream_ == nullptr) stream_ = dataset_.begin(options.seed, position_.epoch);
    while (!ended_ && waiting() < count) {
      auto example = read();
      ended_ = !example;
      if (example) waiting_.push_back(std::move(*example));
    }
    if (waiting_.empty() || (waiting() < count && options.drop_last)) return {};
    Batch batch = naming_the_place([&] { return options.collator(waiting_); },
                                   [&] {
                                     return fmt::format("loader: examples {} to {} of epoch {}", position_.examples,
                                                        position_.examples + waiting() - 1, position_.epoch);
                                   });
    const int64_t examples = waiting();
    position_.examples += examples;
    waiting_.clear();
    return {.batch = std::move(batch), .examples = examples};
  }

  std::optional<Batch> read() {
    return naming_the_place(
        [&] { return stream_->next(); },
        [&] { return fmt::format("stream: example {} of epoch {}", position_.examples + waiting(), position_.epoch); });
  }

  const IterableDataset& dataset_;
  /// What has been made into micro-batches.
  LoaderPosition position_;
  std::unique_ptr<ExampleStream> stream_;
  bool ended_ = false;
  /// Read but not yet in a micro-batch: kept when a later example fails.
  std::vector<Batch> waiting_;
};

}  // namespace

std::unique_ptr<LoaderSource> make_source(const IterableDataset& dataset, LoaderOptions options) {
  return std::make_unique<StreamSource>(dataset, std::move(options));
}

}  // namespace lope
