#include "kernels/kernels.h"

namespace lope::kernels {

HostUpdate::HostUpdate(const Update& update)
    : learning_rate(update.learning_rate.on_host() ? update.learning_rate.value()
                                                   : *update.learning_rate.tensor().const_data_ptr<float>()) {
  if (update.grad_factor.defined()) {
    inverse_scale = *update.grad_factor.const_data_ptr<float>();
  } else if (update.grad_scale.defined()) {
    inverse_scale = 1.0 / *update.grad_scale.const_data_ptr<float>();
  }
  if (update.skip.defined()) skip = *update.skip.const_data_ptr<float>() != 0.0F;
}

}  // namespace lope::kernels
