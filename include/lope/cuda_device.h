#pragma once
// What the CUDA devices of this machine are and which number formats they are fast in.
//
//   for (const lope::CudaDevice& device : lope::cuda_devices())
//     fmt::print("{}: {} MiB\n", device.name, device.total_memory >> 20);
//   bool bf16 = !devices.empty() && devices[0].supports_bf16();

#include <cstdint>
#include <string>
#include <vector>

namespace lope {

/// One CUDA device, as its driver describes it.
struct CudaDevice {
  std::string name;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  /// Bytes of memory on the device.
  std::int64_t total_memory = 0;

  /// bfloat16 tensor cores: compute capability 8.0 and later.
  bool supports_bf16() const { return compute_capability_major >= 8; }
  /// TF32 matrix products: compute capability 8.0 and later.
  bool supports_tf32() const { return compute_capability_major >= 8; }
};

/// True in a build with CUDA, whether or not this machine has a device.
bool built_with_cuda();

/// The visible CUDA devices in the order of their indices; none without a device or driver, or in a build without CUDA.
std::vector<CudaDevice> cuda_devices();

}  // namespace lope
