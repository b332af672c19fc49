#pragma once
// Mixed precision for the forward pass, as a guard.
//
//   {
//     lope::Autocast autocast(at::kCUDA, lope::Precision::kBf16);
//     loss = loss_function(batch);
//   }                                       // also when an exception leaves the block

#include <ATen/core/Tensor.h>

namespace lope {

/// What the forward pass computes in; parameters keep their own type.
enum class Precision { kFp32, kBf16, kFp16 };

/// Turns autocast on for one device type and this thread, and puts everything back when it ends: when it is the
/// outermost guard it also drops the cache of cast weights, so that changed weights are cast anew. `kFp32` turns
/// autocast off inside.
class Autocast {
 public:
  Autocast(at::DeviceType device, Precision precision);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType previous_dtype_;
};

}  // namespace lope
