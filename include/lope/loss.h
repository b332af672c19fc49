#pragma once
// A loss as a sum and a count of items, so that normalisation can wait until a whole window of micro-batches is known.
//
//   auto loss = [&](const lope::Batch& batch) {
//     return lope::cross_entropy(model->forward(batch["x"]), batch["y"]);         // Loss{sum, count}
//   };
//   auto mean = [&](const lope::Batch& b) { return (model->forward(b["x"]) - b["y"]).square().mean(); };   // works too

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "lope/batch.h"

namespace lope {

/// How many items (rows, or target tokens that are not ignored) a loss is the sum of: a number that the host knows, or
/// a scalar integer tensor on the device together with the most it can be.
class ItemCount {
 public:
  ItemCount(int64_t count = 0) : at_most_(count) {}  // NOLINT(google-explicit-constructor): a number is a count
  ItemCount(at::Tensor count, int64_t at_most) : tensor_(std::move(count)), at_most_(at_most) {}

  /// Whether the host knows the number without asking the device.
  bool on_host() const { return !tensor_.defined(); }
  /// The number itself when `on_host()`, else an upper bound.
  int64_t at_most() const { return at_most_; }
  /// The device's number, a scalar integer tensor; undefined when `on_host()`.
  const at::Tensor& tensor() const { return tensor_; }

 private:
  at::Tensor tensor_;
  int64_t at_most_;
};

/// A loss over one micro-batch.
struct Loss {
  /// Scalar, differentiable: the sum over all counted items.
  at::Tensor sum;
  /// Number of counted items.
  ItemCount count;
  /// Optional: (rows, ...) outputs that evaluation hands to `compute_metrics`.
  at::Tensor predictions = {};
};

/// The seam to the user's model: from a micro-batch on the model's device to its loss. Made from any callable that
/// returns a Loss, or a scalar tensor that is the mean over the batch's rows.
class LossFunction {
 public:
  LossFunction() = default;
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, LossFunction> && std::invocable<F&, const Batch&>)
  LossFunction(F function) {  // NOLINT(google-explicit-constructor): a closure is a loss function
    if constexpr (std::same_as<std::invoke_result_t<F&, const Batch&>, Loss>) {
      function_ = std::move(function);
    } else {
      function_ = [f = std::move(function)](const Batch& batch) mutable { return from_mean(f(batch), batch.rows()); };
    }
  }

  /// Throws Error when the sum is not a scalar floating-point tensor.
  Loss operator()(const Batch& batch) const;
  explicit operator bool() const { return static_cast<bool>(function_); }

 private:
  static Loss from_mean(const at::Tensor& mean, int64_t rows);

  std::function<Loss(const Batch&)> function_;
};

/// Options of `cross_entropy`.
struct CrossEntropyOptions {
  /// Targets with this value count nothing.
  int64_t ignore_index = -100;
  /// ε in [0, 1): the target distribution is (1 − ε)·one-hot + ε/classes (Szegedy et al. 2016).
  double label_smoothing = 0.0;
};

/// Cross-entropy in nats. `logits` (..., classes), `targets` (...) integer; count = targets that are not ignored.
/// Throws Error when the shapes do not fit.
Loss cross_entropy(const at::Tensor& logits, const at::Tensor& targets, const CrossEntropyOptions& options = {});

/// Sum of squared differences; count = elements. Shapes must be equal (throws Error).
Loss mse_loss(const at::Tensor& predictions, const at::Tensor& targets);

/// Binary cross-entropy in nats of logits against targets in [0, 1]; count = elements. Shapes must be equal (throws
/// Error).
Loss binary_cross_entropy_with_logits(const at::Tensor& logits, const at::Tensor& targets);

/// Next-token cross-entropy: position t of `logits` (rows, length, classes) predicts `labels` (rows, length) at t + 1.
/// count = predicted labels that are not ignored; the first label of a row is predicted by nothing and counts nothing.
Loss causal_lm_loss(const at::Tensor& logits, const at::Tensor& labels, const CrossEntropyOptions& options = {});

/// The count of `causal_lm_loss` for int64 labels (rows, length) on the CPU: for TrainerOptions::count_items.
int64_t causal_lm_items(const at::Tensor& labels, int64_t ignore_index = -100);

}  // namespace lope
