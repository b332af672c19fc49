#pragma once
// Data sets made of others: several in a row, some examples of one, a function on each example.
//
//   lope::ConcatDataset both({first, second});
//   auto tenth = lope::SubsetDataset::range(both, 0, both.size(), 10);
//   lope::MapDataset scaled(tenth, [](lope::Batch example) { … return example; });
//   lope::AugmentedDataset moved(scaled, [](lope::Batch example, at::Generator generator) { … return example; });
//
// A view copies no example, and what it looks at outlives it. Each passes on lengths, augmentation and the batched fast
// path as far as that can be.

#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lope/dataset.h"

namespace lope {

/// The examples of several data sets, one after the other.
class ConcatDataset : public Dataset {
 public:
  /// Throws Error when there is none.
  explicit ConcatDataset(std::vector<std::reference_wrapper<const Dataset>> parts);

  int64_t size() const override { return ends_.back(); }
  Batch get(int64_t index) const override;
  /// One batch from each part that is asked for, put in order; nullopt when one of them has no fast path or gives other
  /// names or shapes than the first.
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override;
  bool augments() const override;
  Batch get_augmented(int64_t index, at::Generator generator) const override;
  std::optional<int64_t> length(int64_t index) const override;

 private:
  struct Place {
    size_t part;
    int64_t index;
  };
  Place find(int64_t index) const;

  std::vector<std::reference_wrapper<const Dataset>> parts_;
  /// Examples in the parts up to and including each.
  std::vector<int64_t> ends_;
};

/// Some examples of a data set, in the order given; one may come more than once.
class SubsetDataset : public Dataset {
 public:
  /// Throws Error naming an index that the data set does not have.
  SubsetDataset(const Dataset& dataset, std::vector<int64_t> indices);
  /// Every `step`-th example of [begin, end). Throws Error when they leave the data set or the step is below 1.
  static SubsetDataset range(const Dataset& dataset, int64_t begin, int64_t end, int64_t step = 1);

  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Batch get(int64_t index) const override { return dataset_.get(at(index)); }
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override;
  bool augments() const override { return dataset_.augments(); }
  Batch get_augmented(int64_t index, at::Generator generator) const override;
  std::optional<int64_t> length(int64_t index) const override { return dataset_.length(at(index)); }

 private:
  int64_t at(int64_t index) const { return indices_[static_cast<size_t>(index)]; }

  const Dataset& dataset_;
  std::vector<int64_t> indices_;
};

/// What a function makes of each example. It may be called from several threads at once.
class MapDataset : public Dataset {
 public:
  using Function = std::function<Batch(Batch)>;

  MapDataset(const Dataset& dataset, Function function) : dataset_(dataset), function_(std::move(function)) {}

  int64_t size() const override { return dataset_.size(); }
  Batch get(int64_t index) const override { return function_(dataset_.get(index)); }
  bool augments() const override { return dataset_.augments(); }
  Batch get_augmented(int64_t index, at::Generator generator) const override;
  /// The length before the function.
  std::optional<int64_t> length(int64_t index) const override { return dataset_.length(index); }

 private:
  const Dataset& dataset_;
  Function function_;
};

/// The same examples, but training sees what a random function makes of them. It draws from the generator that it is
/// given and from nothing else, and may be called from several threads at once.
class AugmentedDataset : public Dataset {
 public:
  using Function = std::function<Batch(Batch, at::Generator)>;

  AugmentedDataset(const Dataset& dataset, Function function) : dataset_(dataset), function_(std::move(function)) {}

  int64_t size() const override { return dataset_.size(); }
  Batch get(int64_t index) const override { return dataset_.get(index); }
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override {
    return dataset_.get_batch(indices);
  }
  bool augments() const override { return true; }
  Batch get_augmented(int64_t index, at::Generator generator) const override;
  /// The length before the function.
  std::optional<int64_t> length(int64_t index) const override { return dataset_.length(index); }

 private:
  const Dataset& dataset_;
  Function function_;
};

}  // namespace lope
