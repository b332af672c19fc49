#include "lope/autocast.h"

#include <ATen/autocast_mode.h>

namespace lope {

Autocast::Autocast(at::DeviceType device, Precision precision)
    : device_(device),
      was_enabled_(at::autocast::is_autocast_enabled(device)),
      previous_dtype_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::set_autocast_enabled(device, precision != Precision::kFp32);
  if (precision != Precision::kFp32) {
    const auto dtype = precision == Precision::kBf16 ? at::kBFloat16 : at::kHalf;
    at::autocast::set_autocast_dtype(device, dtype);
    // The cache does not ask which type a weight was cast to.
    if (dtype != previous_dtype_) at::autocast::clear_cache();
  }
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  const bool other_dtype = at::autocast::get_autocast_dtype(device_) != previous_dtype_;
  if (at::autocast::decrement_nesting() == 0 || other_dtype) at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(device_, previous_dtype_);
  at::autocast::set_autocast_enabled(device_, was_enabled_);
}

}  // namespace lope
