#include "lope/autocast.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

namespace lope {

Autocast::Autocast(at::DeviceType device, Precision precision)
    : device_(device),
      was_enabled_(at::autocast::is_autocast_enabled(device)),
      was_caching_(at::autocast::is_autocast_cache_enabled()),
      previous_dtype_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::set_autocast_enabled(device, precision != Precision::kFp32);
  if (precision != Precision::kFp32) {
    at::autocast::set_autocast_dtype(device, precision == Precision::kBf16 ? at::kBFloat16 : at::kHalf);
  }
  // A cast made without gradient mode has no gradient: kept in the cache, it would cut the weights off in training.
  at::autocast::set_autocast_cache_enabled(was_caching_ && at::GradMode::is_enabled());
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_cache_enabled(was_caching_);
  at::autocast::set_autocast_dtype(device_, previous_dtype_);
  at::autocast::set_autocast_enabled(device_, was_enabled_);
}

}  // namespace lope
