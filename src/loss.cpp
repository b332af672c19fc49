#include "lope/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lope/error.h"

namespace lope {
namespace {

std::string shape(const at::Tensor& tensor) { return fmt::format("({})", fmt::join(tensor.sizes(), ", ")); }

void check_same_shape(const char* loss, const at::Tensor& predictions, const at::Tensor& targets) {
  if (predictions.sizes() == targets.sizes()) return;
  throw Error(fmt::format("{}: predictions have shape {} and targets {}: they must be equal", loss, shape(predictions),
                          shape(targets)));
}

void check_label_smoothing(double value) {
  if (value >= 0.0 && value < 1.0) return;
  throw Error(fmt::format("label_smoothing is {}: it must be 0 or more and below 1", value));
}

}  // namespace

Loss LossFunction::operator()(const Batch& batch) const {
  Loss loss = function_(batch);
  if (!loss.sum.defined() || loss.sum.numel() != 1 || !loss.sum.is_floating_point()) {
    throw Error(
        fmt::format("loss function: it gave {}: it must give one floating-point number, a mean or Loss{{sum, count}}",
                    loss.sum.defined() ? "a tensor of shape " + shape(loss.sum) : "nothing"));
  }
  return loss;
}

Loss LossFunction::from_mean(const at::Tensor& mean, int64_t rows) {
  if (!mean.defined() || mean.numel() != 1) return {mean, rows};
  // A sum of many rows would leave the range of fp16 and lose digits in bf16.
  const bool narrow = mean.scalar_type() == at::kHalf || mean.scalar_type() == at::kBFloat16;
  return {(narrow ? mean.to(at::kFloat) : mean) * rows, rows};
}

Loss cross_entropy(const at::Tensor& logits, const at::Tensor& targets, const CrossEntropyOptions& options) {
  check_label_smoothing(options.label_smoothing);
  if (logits.dim() != targets.dim() + 1 || logits.sizes().slice(0, logits.dim() - 1) != targets.sizes()) {
    throw Error(
        fmt::format("cross_entropy: logits have shape {} and targets {}: logits need the shape of the targets and "
                    "one more dimension for the classes",
                    shape(logits), shape(targets)));
  }
  const at::Tensor flat = targets.reshape(-1);
  at::Tensor sum = at::cross_entropy_loss(logits.reshape({-1, logits.size(-1)}), flat, {}, at::Reduction::Sum,
                                          options.ignore_index, options.label_smoothing);
  at::Tensor count = flat.ne(options.ignore_index).sum();
  return {std::move(sum), {std::move(count), flat.numel()}, logits};
}

Loss mse_loss(const at::Tensor& predictions, const at::Tensor& targets) {
  check_same_shape("mse_loss", predictions, targets);
  return {at::mse_loss(predictions, targets, at::Reduction::Sum), predictions.numel(), predictions};
}

Loss binary_cross_entropy_with_logits(const at::Tensor& logits, const at::Tensor& targets) {
  check_same_shape("binary_cross_entropy_with_logits", logits, targets);
  at::Tensor sum = at::binary_cross_entropy_with_logits(logits, targets, {}, {}, at::Reduction::Sum);
  return {std::move(sum), logits.numel(), logits};
}

Loss causal_lm_loss(const at::Tensor& logits, const at::Tensor& labels, const CrossEntropyOptions& options) {
  if (logits.dim() != 3 || labels.dim() != 2 || logits.size(0) != labels.size(0) || logits.size(1) != labels.size(1)) {
    throw Error(
        fmt::format("causal_lm_loss: logits have shape {} and labels {}: they must be (rows, length, classes) and "
                    "(rows, length)",
                    shape(logits), shape(labels)));
  }
  // Shifting the labels, not the logits, saves a copy of the logits; the last position predicts nothing.
  const at::Tensor shifted = at::constant_pad_nd(labels.narrow(1, 1, labels.size(1) - 1), {0, 1}, options.ignore_index);
  Loss loss = cross_entropy(logits, shifted, options);
  loss.count = {loss.count.tensor(), labels.size(0) * (labels.size(1) - 1)};
  return loss;
}

int64_t causal_lm_items(const at::Tensor& labels, int64_t ignore_index) {
  const at::Tensor predicted = labels.narrow(1, 1, labels.size(1) - 1).contiguous();
  const auto* data = predicted.const_data_ptr<int64_t>();
  return predicted.numel() - std::count(data, data + predicted.numel(), ignore_index);
}

}  // namespace lope
