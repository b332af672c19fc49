#include "window_end.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

namespace lope::window {
namespace {

__device__ double rate_of(const DeviceInputs& device, double applied) {
  long long index = static_cast<long long>(applied) - device.first_rate;
  if (index >= device.rate_count) index = device.rate_count - 1;
  return device.rates[index < 0 ? 0 : index];
}

__global__ void finish_kernel(Settings settings, DeviceInputs device, Totals* totals, Values* values,
                              Scalars* scalars) {
  Inputs in;
  in.norm = *device.norm;
  in.clip_norm = *device.clip_norm;
  in.loss_sum = *device.loss_sum;
  in.items = device.host_items + (device.items != nullptr ? static_cast<double>(*device.items) : 0.0);
  in.scale = device.scale != nullptr ? *device.scale : 1.0;
  in.learning_rate = rate_of(device, totals->applied);
  finish(settings, in, *totals, *values, *scalars);
}

}  // namespace

void finish_on_cuda(const Settings& settings, const DeviceInputs& inputs, const at::Tensor& totals,
                    const at::Tensor& values, const at::Tensor& scalars) {
  const c10::cuda::CUDAGuard guard(totals.device());
  finish_kernel<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(
      settings, inputs, reinterpret_cast<Totals*>(totals.mutable_data_ptr<double>()),
      reinterpret_cast<Values*>(values.mutable_data_ptr<double>()),
      reinterpret_cast<Scalars*>(scalars.mutable_data_ptr<float>()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace lope::window
