#include "rate_table.h"

#include <ATen/ops/empty.h>

namespace lope {

void RateTable::fill(const RateFunction& rate, int64_t applied_at_least) {
  first_ = applied_at_least;
  const at::Tensor host = at::empty({kSize}, at::TensorOptions(at::kDouble));
  auto* values = host.mutable_data_ptr<double>();
  for (int64_t i = 0; i < kSize; ++i) values[i] = rate(first_ + i);
  rates_ = host.to(device_);
}

}  // namespace lope
