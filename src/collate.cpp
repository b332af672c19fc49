#include "lope/collate.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "lope/error.h"

namespace lope {
namespace {

constexpr const char* kAttentionMask = "attention_mask";

std::vector<at::Tensor> column(std::span<const Batch> examples, const std::string& name) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(examples.size());
  for (const auto& example : examples) tensors.push_back(example[name]);
  return tensors;
}

at::Tensor stack_column(const std::string& name, const std::vector<at::Tensor>& tensors) {
  for (const auto& tensor : tensors) {
    if (tensor.sizes() != tensors.front().sizes()) {
      throw Error(
          fmt::format("collate: \"{}\" has shape ({}) in one example and ({}) in another: make them equal, or "
                      "use PadCollator for sequences",
                      name, fmt::join(tensors.front().sizes(), ", "), fmt::join(tensor.sizes(), ", ")));
    }
  }
  return at::stack(tensors);
}

int64_t padded_length(const std::vector<at::Tensor>& tensors, int64_t multiple) {
  int64_t longest = 0;
  for (const auto& tensor : tensors) longest = std::max(longest, tensor.size(0));
  return (longest + multiple - 1) / multiple * multiple;
}

at::Tensor pad_column(const std::string& name, const std::vector<at::Tensor>& tensors, double value,
                      const PadOptions& options) {
  for (const auto& tensor : tensors) {
    if (tensor.dim() == 0 || tensor.sizes().slice(1) != tensors.front().sizes().slice(1)) {
      throw Error(
          fmt::format("collate: \"{}\" can only be padded in dimension 0: the other dimensions must be equal", name));
    }
  }
  std::vector<int64_t> shape = tensors.front().sizes().vec();
  shape[0] = padded_length(tensors, options.pad_to_multiple_of);
  shape.insert(shape.begin(), static_cast<int64_t>(tensors.size()));
  at::Tensor padded = at::full(shape, value, tensors.front().options());
  for (size_t row = 0; row < tensors.size(); ++row) {
    const int64_t length = tensors[row].size(0);
    const int64_t begin = options.side == PaddingSide::kLeft ? shape[1] - length : 0;
    padded.select(0, static_cast<int64_t>(row)).narrow(0, begin, length).copy_(tensors[row]);
  }
  return padded;
}

at::Tensor mask_of(const std::vector<at::Tensor>& tensors, const PadOptions& options) {
  std::vector<at::Tensor> kept;
  kept.reserve(tensors.size());
  for (const auto& tensor : tensors) kept.push_back(at::ones({tensor.size(0)}, tensor.options().dtype(at::kLong)));
  return pad_column(kAttentionMask, kept, 0.0, options);
}

}  // namespace

Batch stack_examples(std::span<const Batch> examples) {
  if (examples.empty()) throw Error("collate: there is no example: give at least one");
  Batch batch;
  for (const auto& item : examples.front())
    batch.set(item.first, stack_column(item.first, column(examples, item.first)));
  return batch;
}

PadCollator::PadCollator(PadOptions options) : options_(std::move(options)) {
  if (options_.pad_to_multiple_of < 1) {
    throw Error(fmt::format("pad_to_multiple_of is {}: it must be 1 or more", options_.pad_to_multiple_of));
  }
}

Batch PadCollator::operator()(std::span<const Batch> examples) const {
  if (examples.empty()) throw Error("collate: there is no example: give at least one");
  Batch batch;
  at::Tensor mask;
  for (const auto& item : examples.front()) {
    const std::string& name = item.first;
    const auto tensors = column(examples, name);
    const auto value = options_.pad_values.find(name);
    if (value == options_.pad_values.end()) {
      batch.set(name, stack_column(name, tensors));
      continue;
    }
    batch.set(name, pad_column(name, tensors, value->second, options_));
    const bool masked = !options_.attention_mask || examples.front().contains(kAttentionMask) || mask.defined();
    if (!masked) mask = mask_of(tensors, options_);
  }
  if (mask.defined()) batch.set(kAttentionMask, mask);
  return batch;
}

}  // namespace lope
