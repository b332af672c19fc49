#pragma once
// A data set written for torch::data, as a lope::Dataset. The only header that includes torch::data: lope.h leaves it
// out.
//
//   lope::TorchDataset train(torch::data::datasets::MNIST("mnist").map(torch::data::transforms::Normalize<>(0.13,
//   0.31))); lope::Loader loader(train, {.batch_size = 64});

#include <ATen/core/Tensor.h>
#include <torch/data/datasets/base.h>
#include <torch/data/example.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lope/dataset.h"
#include "lope/error.h"

namespace lope {

/// Map-style data sets of torch::data with random access by index, whose examples are `Example<>` or `TensorExample`,
/// one by one or already stacked.
template <typename D>
concept TorchMapStyle =
    std::copy_constructible<D> && !D::is_stateful && std::same_as<typename D::BatchRequestType, c10::ArrayRef<size_t>>;

/// What the tensors of an example are called.
struct TorchDatasetNames {
  std::string data = "x";
  std::string target = "labels";
};

/// `get` of torch::data may change the data set, so each thread that is reading has a copy of its own (as
/// torch::data::DataLoader does it); tensors in it are shared.
template <TorchMapStyle D>
class TorchDataset : public Dataset {
 public:
  /// Throws Error when the data set does not know its size.
  explicit TorchDataset(D dataset, TorchDatasetNames names = {})
      : dataset_(std::move(dataset)), names_(std::move(names)), size_(size_of(dataset_)) {}

  int64_t size() const override { return size_; }

  Batch get(int64_t index) const override {
    const auto place = static_cast<size_t>(index);
    const auto found = Borrowed(*this)->get_batch(c10::ArrayRef<size_t>(place));
    if constexpr (kStacked) {
      Batch example;
      for (const auto& [name, tensor] : named(found)) example.set(name, tensor.select(0, 0));
      return example;
    } else {
      return named(found.at(0));
    }
  }

  /// Where the data set stacks its examples itself (`.map(Stack<>())`).
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override {
    if constexpr (kStacked) {
      const std::vector<size_t> places(indices.begin(), indices.end());
      return named(Borrowed(*this)->get_batch(places));
    } else {
      return std::nullopt;
    }
  }

 private:
  static constexpr bool kStacked = requires(D::BatchType batch) { batch.data; };

  /// A copy of the data set that no other thread has.
  class Borrowed {
   public:
    explicit Borrowed(const TorchDataset& from) : from_(from), copy_(from.take()) {}
    ~Borrowed() { from_.put_back(std::move(copy_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    D* operator->() const { return copy_.get(); }

   private:
    const TorchDataset& from_;
    std::unique_ptr<D> copy_;
  };

  static int64_t size_of(const D& dataset) {
    const auto size = dataset.size();
    if (!size)
      throw Error("torch::data data set: it does not know its size: only those with random access can be used");
    return static_cast<int64_t>(*size);
  }

  std::unique_ptr<D> take() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<D>(dataset_);
    auto copy = std::move(idle_.back());
    idle_.pop_back();
    return copy;
  }

  void put_back(std::unique_ptr<D> copy) const {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(copy));
  }

  template <typename Example>
  Batch named(const Example& example) const {
    Batch batch;
    batch.set(names_.data, example.data);
    if constexpr (requires { example.target; }) batch.set(names_.target, example.target);
    return batch;
  }

  D dataset_;
  TorchDatasetNames names_;
  int64_t size_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<D>> idle_;
};

}  // namespace lope
