#pragma once
// The learning rate of an update: a number for the host, or a scalar on the device.

#include <ATen/core/Tensor.h>

#include <utility>

namespace lope {

/// CPU kernels take a number; CUDA kernels take a float32 scalar that was looked up on the device.
class LearningRate {
 public:
  LearningRate(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  explicit LearningRate(at::Tensor on_device) : tensor_(std::move(on_device)) {}

  bool on_host() const { return !tensor_.defined(); }
  /// The number; only when `on_host()`.
  double value() const { return value_; }
  /// float32 scalar; undefined when `on_host()`.
  const at::Tensor& tensor() const { return tensor_; }

 private:
  at::Tensor tensor_;
  double value_ = 0;
};

}  // namespace lope
