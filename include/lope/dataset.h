#pragma once
// Where examples come from: tables with random access (Dataset) and streams (IterableDataset).
//
//   lope::TensorDataset data({{"x", inputs}, {"y", targets}});            // rows in dimension 0
//   struct Images : lope::Dataset {
//     int64_t size() const override;
//     lope::Batch get(int64_t index) const override;                      // one example: tensors without a batch
//     dimension
//   };

#include <ATen/core/Generator.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "lope/batch.h"

namespace lope {

/// A finite table of examples with random access. `get` may be called from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Number of examples.
  virtual int64_t size() const = 0;
  /// Example `index` in [0, size()): tensors without a batch dimension.
  virtual Batch get(int64_t index) const = 0;
  /// The fast path: a whole micro-batch of these examples, already collated; nullopt (the default) where a data set has
  /// none, and then a collator joins the single examples.
  virtual std::optional<Batch> get_batch(std::span<const int64_t> indices) const;

  /// Whether `get_augmented` differs from `get`.
  virtual bool augments() const { return false; }
  /// Example `index` as training sees it: whatever is random about it is drawn from `generator` alone. By default
  /// `get`.
  virtual Batch get_augmented(int64_t index, at::Generator generator) const;
  /// How long example `index` is, for batches of similar lengths; nullopt (the default) where that is not known.
  virtual std::optional<int64_t> length(int64_t index) const;
};

/// Examples that are the rows of tensors. Batches are gathered with one copy a tensor.
class TensorDataset : public Dataset {
 public:
  /// Throws Error when `tensors` is empty or the tensors differ in rows.
  explicit TensorDataset(Batch tensors);

  int64_t size() const override { return tensors_.rows(); }
  Batch get(int64_t index) const override;
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override;

 private:
  Batch tensors_;
};

/// One pass over a stream of examples.
class ExampleStream {
 public:
  virtual ~ExampleStream() = default;
  /// The next example (tensors without a batch dimension), or nullopt at the end.
  virtual std::optional<Batch> next() = 0;
};

/// Examples that come one after the other, of unknown number. The loader starts a new pass when one ends.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  /// A pass from the beginning. `seed` and `epoch` are for streams that shuffle: the order must depend on nothing else.
  virtual std::unique_ptr<ExampleStream> begin(uint64_t seed, int64_t epoch) const = 0;
};

}  // namespace lope
