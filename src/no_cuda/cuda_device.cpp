#include "lope/cuda_device.h"

namespace lope {

bool built_with_cuda() { return false; }

std::vector<CudaDevice> cuda_devices() { return {}; }

}  // namespace lope
