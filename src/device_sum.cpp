#include "device_sum.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/ops/zeros.h>

namespace lope {

double cpu_value(const at::Tensor& scalar) {
  double value = 0.0;
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, scalar.scalar_type(), "scalar",
                             [&] { value = static_cast<double>(*scalar.const_data_ptr<scalar_t>()); });
  return value;
}

DeviceSum::DeviceSum(at::Device device, at::ScalarType type) {
  if (!device.is_cpu()) device_ = at::zeros({}, at::TensorOptions(device).dtype(type));
}

void DeviceSum::clear() {
  host_ = 0.0;
  if (used_) device_.zero_();
  used_ = false;
}

void DeviceSum::add(const at::Tensor& scalar) {
  if (scalar.is_cpu()) {
    host_ += cpu_value(scalar);
    return;
  }
  device_.add_(scalar.reshape({}));
  used_ = true;
}

}  // namespace lope
