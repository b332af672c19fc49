#include "lope/loader.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "device_copy.h"
#include "loader_task.h"
#include "stream_source.h"
#include "table_source.h"
#include "worker_pool.h"

namespace lope {
namespace {

void check_at_least(int64_t least, const char* name, int64_t value) {
  if (value < least) throw Error(fmt::format("{} is {}: it must be {} or more", name, value, least));
}

LoaderOptions checked(LoaderOptions options) {
  check_at_least(1, "batch_size", options.batch_size);
  check_at_least(0, "num_workers", options.num_workers);
  check_at_least(1, "prefetch_factor", options.prefetch_factor);
  check_at_least(1, "world_size", options.world_size);
  if (options.rank < 0 || options.rank >= options.world_size) {
    throw Error(
        fmt::format("rank is {}: it must be 0 or more and below world_size {}", options.rank, options.world_size));
  }
  if (!(options.timeout >= 0)) throw Error(fmt::format("timeout is {}: it must be 0 or more", options.timeout));
  if (options.persistent_workers && options.num_workers == 0) {
    throw Error("persistent_workers is true and num_workers is 0: set num_workers above 0");
  }
  if (!options.collator) throw Error("loader: there is no collator: give one, or leave out the option");
  return options;
}

}  // namespace

class Loader::Impl {
 public:
  template <typename Source, typename Data>
  static std::unique_ptr<Impl> make(const Data& dataset, LoaderOptions options) {
    auto impl = std::make_unique<Impl>(std::move(options));
    impl->source_ = std::make_unique<Source>(dataset, impl->options_);
    return impl;
  }

  explicit Impl(LoaderOptions options) : options_(checked(std::move(options))), copy_(options_.device) {}

  std::optional<Batch> next() {
    if (ended_) return std::nullopt;
    auto loaded = options_.num_workers == 0 ? load() : take();
    if (!loaded) {
      ended_ = true;
      if (!options_.persistent_workers) pool_.reset();
      return std::nullopt;
    }
    position_.examples += loaded->examples;
    copy_.finish(*loaded);
    return std::move(loaded->batch);
  }

  void seek(LoaderPosition to) {
    if (pool_ && source_->is_sequential()) pool_.reset();
    task_ = source_->begin(to);
    if (pool_) pool_->begin(task_);
    position_ = to;
    batches_ = 0;
    ended_ = false;
  }

  LoaderPosition position() const { return position_; }
  std::optional<int64_t> examples_per_epoch() const { return source_->examples_per_epoch(); }
  int64_t batch_size() const { return options_.batch_size; }

 private:
  std::optional<LoadedBatch> load() {
    const at::NoGradGuard no_grad;
    if (!task_) task_ = source_->begin(position_);
    auto loaded = task_->make(batches_, place_);
    if (!loaded) return loaded;
    finish(*loaded);
    ++batches_;
    return loaded;
  }

  std::optional<LoadedBatch> take() {
    if (!pool_) start_workers();
    return pool_->take();
  }

  void start_workers() {
    const at::NoGradGuard no_grad;
    if (!task_) task_ = source_->begin(position_);
    pool_.emplace(WorkerPoolOptions{.workers = source_->is_sequential() ? 1 : options_.num_workers,
                                    .capacity = options_.num_workers * options_.prefetch_factor,
                                    .timeout = options_.timeout},
                  [this](LoadedBatch& loaded) { finish(loaded); });
    pool_->begin(task_);
  }

  void finish(LoadedBatch& loaded) const {
    if (options_.pin_memory) loaded.batch = loaded.batch.pin();
    copy_.start(loaded);
  }

  LoaderOptions options_;
  std::unique_ptr<LoaderSource> source_;
  DeviceCopy copy_;
  LoaderPosition position_;
  std::shared_ptr<LoaderTask> task_;
  /// Without workers: micro-batches of the task so far, and where they are made.
  int64_t batches_ = 0;
  Workplace place_;
  bool ended_ = false;
  /// Last, so that its threads end first.
  std::optional<WorkerPool> pool_;
};

Loader::Loader(const Dataset& dataset, LoaderOptions options)
    : impl_(Impl::make<TableSource>(dataset, std::move(options))) {}

Loader::Loader(const IterableDataset& dataset, LoaderOptions options)
    : impl_(Impl::make<StreamSource>(dataset, std::move(options))) {}

Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

std::optional<Batch> Loader::next() { return impl_->next(); }

LoaderPosition Loader::position() const { return impl_->position(); }

void Loader::seek(LoaderPosition position) { impl_->seek(position); }

std::optional<int64_t> Loader::examples_per_epoch() const { return impl_->examples_per_epoch(); }

std::optional<int64_t> Loader::batches_per_epoch() const {
  const auto examples = examples_per_epoch();
  if (!examples) return std::nullopt;
  return (*examples + impl_->batch_size() - 1) / impl_->batch_size();
}

}  // namespace lope
