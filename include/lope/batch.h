#pragma once
// Named tensors that travel together: one micro-batch, or one example.
//
//   lope::Batch batch{{"input_ids", ids}, {"labels", labels}};   // each (rows, ...)
//   batch = batch.to(at::kCUDA);
//   auto logits = model->forward(batch["input_ids"]);

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lope {

/// An ordered set of named tensors. A micro-batch has its rows in dimension 0 of every tensor; an example has no such
/// dimension. Copying copies handles, not data.
class Batch {
 public:
  using Item = std::pair<std::string, at::Tensor>;

  Batch() = default;
  /// Throws Error when a name is given twice.
  Batch(std::initializer_list<Item> items);

  /// The tensor with this name. Throws Error, listing the names there are, when there is none.
  const at::Tensor& operator[](std::string_view name) const;
  bool contains(std::string_view name) const;
  /// Adds a tensor or replaces the one with this name.
  void set(std::string_view name, at::Tensor value);

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

  /// Rows of the first tensor (its dimension 0); 0 for an empty batch.
  int64_t rows() const;
  /// Elements of the tensor called "input_ids" (tokens), else rows: what "items seen" means for throughput.
  int64_t tokens() const;
  /// Whether every tensor lives on `device`.
  bool is_on(at::Device device) const;
  /// The same names on `device`; from pinned memory the copy does not block the host.
  Batch to(at::Device device) const;
  /// The same names in page-locked memory; without CUDA the batch itself.
  Batch pin() const;
  /// Rows [begin, begin + count) of every tensor, without a copy.
  Batch slice(int64_t begin, int64_t count) const;

 private:
  const at::Tensor* find(std::string_view name) const;

  std::vector<Item> items_;
};

}  // namespace lope
