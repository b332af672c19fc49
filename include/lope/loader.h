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
  /// Asks a data set that augments its examples for `get_augmented`, with a generator seeded by seed, epoch and index.
  bool augment = false;
};

/// A place in the order of examples: what has been handed out, not what has been prepared.
struct LoaderPosition {
  int64_t epoch = 0;
  /// Examples of this epoch handed out so far.
  int64_t examples = 0;

  bool operator==(const LoaderPosition&) const = default;
};

/// Hands out the micro-batches of one epoch after the other. The data set outlives the loader.
class Loader {
 public:
  /// Throws Error for a batch size below 1, an empty data set, or one smaller than a batch with `drop_last`.
  Loader(const Dataset& dataset, LoaderOptions options);
  /// Over a stream: the order is the stream's own.
  Loader(const IterableDataset& dataset, LoaderOptions options);
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// The next micro-batch of this epoch, or nullopt at its end. An exception of the data set is passed on as Error that
  /// names the example; the loader stays usable.
  std::optional<Batch> next();

  LoaderPosition position() const;
  /// Continues at `position`: in O(1) for a Dataset, by reading past examples for a stream.
  void seek(LoaderPosition position);

  /// Micro-batches an epoch; nullopt for a stream.
  std::optional<int64_t> batches_per_epoch() const;
  /// Examples an epoch that are handed out; nullopt for a stream.
  std::optional<int64_t> examples_per_epoch() const;

 private:
  class Source;
  class TableSource;
  class StreamSource;

  std::unique_ptr<Source> source_;
};

}  // namespace lope
