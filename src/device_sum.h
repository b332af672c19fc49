#pragma once
// A sum of scalars that stays where they are: a host number for CPU tensors, a device tensor for others.

#include <ATen/core/Tensor.h>

namespace lope {

/// The value of a CPU scalar of any number type, read from its memory.
double cpu_value(const at::Tensor& scalar);

class DeviceSum {
 public:
  /// `type` is that of the device's tensor.
  DeviceSum(at::Device device, at::ScalarType type);

  void clear();
  void add(const at::Tensor& scalar);
  void add(double value) { host_ += value; }

  /// The part that the host knows: all of it on the CPU.
  double host() const { return host_; }
  /// The device's part, scalar; meaningful when `on_device()`.
  const at::Tensor& device() const { return device_; }
  bool on_device() const { return used_; }

 private:
  double host_ = 0.0;
  at::Tensor device_;
  bool used_ = false;
};

}  // namespace lope
