#include "lope/dataset.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include "lope/error.h"

namespace lope {

std::optional<Batch> Dataset::get_batch(std::span<const int64_t> /*indices*/) const { return std::nullopt; }

Batch Dataset::get_augmented(int64_t index, at::Generator /*generator*/) const { return get(index); }

std::optional<int64_t> Dataset::length(int64_t /*index*/) const { return std::nullopt; }

TensorDataset::TensorDataset(Batch tensors) : tensors_(std::move(tensors)) {
  if (tensors_.empty()) throw Error("data set: there is no tensor: give at least one, with rows in dimension 0");
  for (const auto& [name, tensor] : tensors_) {
    const int64_t rows = tensor.dim() == 0 ? 0 : tensor.size(0);
    if (rows != tensors_.rows()) {
      throw Error(
          fmt::format("data set: \"{}\" has {} rows but \"{}\" has {}: all tensors need the same number of rows", name,
                      rows, tensors_.begin()->first, tensors_.rows()));
    }
  }
}

Batch TensorDataset::get(int64_t index) const {
  Batch example;
  for (const auto& [name, tensor] : tensors_) example.set(name, tensor.select(0, index));
  return example;
}

std::optional<Batch> TensorDataset::get_batch(std::span<const int64_t> indices) const {
  const auto count = static_cast<int64_t>(indices.size());
  // index_select only reads; from_blob has no form for constant memory.
  auto* data = const_cast<int64_t*>(indices.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const at::Tensor index = at::from_blob(data, {count}, at::TensorOptions(at::kLong));
  Batch batch;
  for (const auto& [name, tensor] : tensors_) {
    batch.set(name, tensor.index_select(0, tensor.is_cpu() ? index : index.to(tensor.device())));
  }
  return batch;
}

}  // namespace lope
