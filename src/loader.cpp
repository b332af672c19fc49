#include "lope/loader.h"

#include <fmt/format.h>

#include <utility>

#include "device_copies.h"
#include "loader_source.h"
#include "lope/error.h"
#include "worker_pool.h"

namespace lope {
namespace {

void check(const LoaderOptions& options) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value < least) throw Error(fmt::format("{} is {}: it must be {} or more", name, value, least));
  };
  at_least("batch_size", options.batch_size, 1);
  at_least("num_workers", options.num_workers, 0);
  at_least("prefetch_factor", options.prefetch_factor, 1);
  if (!(options.timeout >= 0.0)) throw Error(fmt::format("timeout is {}: it must be 0 or more", options.timeout));
}

}  // namespace

class Loader::Impl {
 public:
  explicit Impl(std::unique_ptr<LoaderSource> source) : source_(std::move(source)), options_(source_->options) {
    if (options_.device && !options_.device->is_cpu()) copies_.emplace(*options_.device);
  }

  /// With a device, the copy of the micro-batch after this one is started before this one is handed out.
  std::optional<Batch> next() {
    if (!copies_) return take();
    if (!ahead_) ahead_ = start_copy();
    if (!ahead_) return std::nullopt;
    Copy copy = std::move(*ahead_);
    copies_->finish(copy.batch);
    position_.examples += copy.examples;
    ahead_.reset();
    if (options_.num_workers > 0 && pool_ready()) ahead_ = start_copy();
    return std::move(copy.batch);
  }

  void seek(LoaderPosition to) {
    source_->check(to);
    if (pool_) pool_->clear();
    ahead_.reset();
    source_->plan_from(to);
    position_ = to;
  }

  LoaderPosition position() const { return position_; }
  const LoaderSource& source() const { return *source_; }

 private:
  struct Copy {
    Batch batch;
    int64_t examples = 0;
  };

  std::optional<Copy> start_copy() {
    // Handed out is only what the caller gets: the position moves then.
    const LoaderPosition before = position_;
    auto batch = take();
    const int64_t examples = position_.examples - before.examples;
    position_ = before;
    if (!batch) return std::nullopt;
    return Copy{copies_->start(*batch), examples};
  }

  std::optional<Batch> take() {
    PreparedBatch prepared = options_.num_workers > 0 ? take_from_workers() : prepare_now();
    if (!prepared.error.empty()) {
      if (pool_) pool_->clear();
      source_->plan_again_from(place_of_next());
      throw Error(prepared.error);
    }
    position_.examples += prepared.examples;
    // A worker that is still at a job of before a jump would have to be waited for.
    if (!prepared.batch && !options_.persistent_workers && pool_ && pool_->idle()) pool_.reset();
    return std::move(prepared.batch);
  }

  /// A micro-batch that is being copied is behind the position already, but not in it.
  LoaderPosition place_of_next() const {
    return {.epoch = position_.epoch, .examples = position_.examples + (ahead_ ? ahead_->examples : 0)};
  }

  PreparedBatch prepare_now() {
    const auto job = source_->next_job();
    return job ? source_->prepare(*job) : PreparedBatch{};
  }

  PreparedBatch take_from_workers() {
    if (!pool_) pool_ = std::make_unique<WorkerPool>(*source_, source_->concurrent() ? options_.num_workers : 1);
    top_up();
    if (pool_->in_flight() == 0) return {};
    PreparedBatch prepared = pool_->take(options_.timeout);
    if (prepared.batch) top_up();
    return prepared;
  }

  void top_up() {
    while (pool_->in_flight() < options_.num_workers * options_.prefetch_factor) {
      auto job = source_->next_job();
      if (!job) return;
      pool_->submit(std::move(*job));
    }
  }

  bool pool_ready() const { return pool_ && pool_->ready(); }

  std::unique_ptr<LoaderSource> source_;
  const LoaderOptions& options_;
  LoaderPosition position_;
  std::optional<DeviceCopies> copies_;
  std::optional<Copy> ahead_;
  /// Last, so that its threads end before what they use.
  std::unique_ptr<WorkerPool> pool_;
};

Loader::Loader(const Dataset& dataset, LoaderOptions options) {
  check(options);
  impl_ = std::make_unique<Impl>(make_source(dataset, std::move(options)));
}

Loader::Loader(const IterableDataset& dataset, LoaderOptions options) {
  check(options);
  impl_ = std::make_unique<Impl>(make_source(dataset, std::move(options)));
}

Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

std::optional<Batch> Loader::next() { return impl_->next(); }

LoaderPosition Loader::position() const { return impl_->position(); }

void Loader::seek(LoaderPosition position) { impl_->seek(position); }

std::optional<int64_t> Loader::examples_per_epoch() const { return impl_->source().examples_per_epoch(); }

std::optional<int64_t> Loader::batches_per_epoch() const {
  const auto examples = examples_per_epoch();
  if (!examples) return std::nullopt;
  const int64_t size = impl_->source().options.batch_size;
  return (*examples + size - 1) / size;
}

}  // namespace lope
