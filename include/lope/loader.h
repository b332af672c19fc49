#pragma once
// Micro-batches of a data set, in an order that is a function of seed and epoch alone, loaded ahead by threads.
//
//   lope::Loader loader(data, {.batch_size = 8, .seed = 42, .num_workers = 2});
//   for (int64_t epoch = 0; epoch < 3; ++epoch) {
//     loader.seek({.epoch = epoch});
//     while (auto batch = loader.next()) use(*batch);
//   }

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lope/batch.h"
#include "lope/collate.h"
#include "lope/dataset.h"

namespace lope {

/// The order in which examples are visited. A stream has its own.
enum class SamplingStrategy {
  kRandom,         ///< a new permutation for each epoch
  kSequential,     ///< as stored
  kGroupByLength,  ///< random, but examples of similar `Dataset::length` come together: less padding
  kWeighted,       ///< drawn with replacement, as often as `LoaderOptions::weights` says
};

struct LoaderOptions {
  int64_t batch_size = 8;
  uint64_t seed = 42;
  SamplingStrategy sampling_strategy = SamplingStrategy::kRandom;
  /// Leaves out the last micro-batch of an epoch when it has fewer rows than the others, and with several ranks the
  /// last examples that not all of them would get.
  bool drop_last = false;
  /// Hands out micro-batches in page-locked memory, so that copies to a CUDA device overlap with computing.
  bool pin_memory = false;
  /// Joins examples where the data set has no batched fast path. With workers it is called from several threads at
  /// once.
  Collator collator = stack_examples;
  /// Asks a data set that augments its examples for `get_augmented`, with a generator seeded by seed, epoch and index.
  bool augment = false;

  /// Threads that load micro-batches ahead; 0 loads in `next()`. The batches are the same for every number. A stream
  /// has one reader, however many are asked for.
  int64_t num_workers = 0;
  /// Micro-batches that each worker loads ahead.
  int64_t prefetch_factor = 2;
  /// Keeps the threads between epochs.
  bool persistent_workers = false;
  /// Seconds that `next()` waits for workers before it throws Error; 0: as long as it takes.
  double timeout = 0;

  /// How often each example is drawn, relative to the others: for kWeighted.
  std::vector<double> weights = {};

  /// This process and how many share the epoch: rank r gets examples r, r + world_size, … of the order. When
  /// `world_size` doesn't divide them and `drop_last` is off, the last round is filled up from the order's start.
  int64_t rank = 0;
  int64_t world_size = 1;

  /// Where micro-batches go; nullopt hands them out where the data set has them. To an accelerator they are copied on a
  /// stream of their own, while the current stream computes; the current stream of `next()`'s caller then waits for
  /// them.
  std::optional<at::Device> device = std::nullopt;
};

/// A place in the order of examples: what has been handed out, not what has been prepared.
struct LoaderPosition {
  int64_t epoch = 0;
  /// Examples of this epoch handed out so far.
  int64_t examples = 0;

  bool operator==(const LoaderPosition&) const = default;
};

/// Hands out the micro-batches of one epoch after the other. The data set outlives the loader. Data sets, streams and
/// collators are called without gradients, and in workers with one thread for their kernels.
class Loader {
 public:
  /// Throws Error for options that make no sense, an empty data set, or one smaller than a batch with `drop_last`.
  Loader(const Dataset& dataset, LoaderOptions options);
  /// Over a stream: the order is the stream's own.
  Loader(const IterableDataset& dataset, LoaderOptions options);
  /// Waits for the example that each worker is at.
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// The next micro-batch of this epoch, or nullopt at its end. An exception of the data set is passed on as Error that
  /// names the example; the loader stays usable and tries it again.
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
