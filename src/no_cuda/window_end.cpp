#include "window_end.h"

#include "lope/error.h"

namespace lope::window {

void finish_on_cuda(const Settings& /*settings*/, const DeviceInputs& /*inputs*/, const at::Tensor& /*totals*/,
                    const at::Tensor& /*values*/, const at::Tensor& /*scalars*/) {
  throw Error("device cuda: this build of Lope has no CUDA: configure it with -DLOPE_CUDA=ON, or train on the CPU");
}

}  // namespace lope::window
