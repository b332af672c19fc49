#pragma once
// Micro-batches of a data set, in an order that is a function of seed and epoch alone.
//
//   lope::Loader loader(data, {.batch_size = 8, .seed = 42});
//   for (int64_t epoch = 0; epoch < 3; ++epoch) {
//     loader.seek({.epoch = epoch});
//     while (auto batch = loader.next()) use(*batch);
//   }

#include <cstdint>
#include <memory>
#include <optional>

#include "lope/batch.h"
#include "lope/collate.h"
#include "lope/dataset.h"

namespace lope {

/// The order in which examples are visited.
enum class SamplingStrategy {
  kRandom,      ///< a new permutation for each epoch
  kSequential,  ///< as stored
};

struct LoaderOptions {
  int64_t batch_size = 8;
  uint64_t seed = 42;
  SamplingStrategy sampling_strategy = SamplingStrategy::kRandom;
  /// Leaves out the last micro-batch of an epoch when it has fewer rows than the others.
  bool drop_last = false;
  /// Hands out micro-batches in page-locked memory, so that copies to a CUDA device overlap with computing.
  bool pin_memory = false;
  /// Joins examples where the data set has no batched fast path.
  Collator collator = stack_examples;
  /// Calls `Dataset::get_augmented` of a data set that has random examples: for training, not for evaluation.
  bool augment = false;
  /// Threads that prepare micro-batches ahead; 0 prepares them in `next`. The batches and their order are the same for
  /// every number. A stream is read by one thread.
  int64_t num_workers = 0;
  /// Micro-batches that each worker prepares ahead.
  int64_t prefetch_factor = 2;
  /// Keeps the threads between epochs.
  bool persistent_workers = false;
  /// Seconds after which `next` gives up on a worker; 0 waits for ever.
  double timeout = 0.0;
  /// Where micro-batches are handed out: copies to it run beside the computation. By default where the data is.
  std::optional<at::Device> device = std::nullopt;
};

/// A place in the order of examples: what has been handed out, not what has been prepared.
struct LoaderPosition {
  int64_t epoch = 0;
  /// Examples of this epoch handed out so far.
  int64_t examples = 0;

  bool operator==(const LoaderPosition&) const = default;
};

/// Hands out the micro-batches of one epoch after the other. The data set outlives the loader. It may be left, sought
/// and destroyed at any moment: threads end with the example that they are at.
class Loader {
 public:
  /// Throws Error for an option out of range, an empty data set, or one smaller than a batch with `drop_last`.
  Loader(const Dataset& dataset, LoaderOptions options);
  /// Over a stream: the order is the stream's own.
  Loader(const IterableDataset& dataset, LoaderOptions options);
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// The next micro-batch of this epoch, or nullopt at its end. An exception of the data set, of whatever type and in
  /// whatever thread, is passed on as Error that names the example; the loader stays usable.
  std::optional<Batch> next();

  LoaderPosition position() const;
  /// Continues at `position`: in O(1) for a Dataset, by reading past examples for a stream.
  void seek(LoaderPosition position);

  /// Micro-batches an epoch; nullopt for a stream.
  std::optional<int64_t> batches_per_epoch() const;
  /// Examples an epoch that are handed out; nullopt for a stream.
  std::optional<int64_t> examples_per_epoch() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lope
