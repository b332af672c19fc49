#include "lope/cuda_device.h"

#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include "lope/error.h"

namespace lope {
namespace {

CudaDevice describe(int index) {
  cudaDeviceProp properties{};
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, index); status != cudaSuccess) {
    throw Error("CUDA device " + std::to_string(index) + " does not answer (" + cudaGetErrorString(status) +
                "); check it with nvidia-smi, or hide it with CUDA_VISIBLE_DEVICES");
  }
  return {properties.name, properties.major, properties.minor, static_cast<std::int64_t>(properties.totalGlobalMem)};
}

}  // namespace

bool built_with_cuda() { return true; }

std::vector<CudaDevice> cuda_devices() {
  const auto count = c10::cuda::device_count();
  std::vector<CudaDevice> devices;
  devices.reserve(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index) {
    devices.push_back(describe(index));
  }
  return devices;
}

}  // namespace lope
