#pragma once
// Dynamic loss scaling for fp16, without a host read.
//
//   lope::GradScaler scaler(at::kCUDA);
//   (loss * scaler.scale()).backward();
//   at::Tensor found = scaler.unscale_(gradients);     // 1 when one of them is not finite
//   optimizer.step({.skip = found});
//   scaler.update(found);

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lope {

/// Names and defaults of torch.amp.GradScaler.
struct GradScalerOptions {
  double init_scale = 65536.0;
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  /// Finite updates in a row before the scale grows.
  int64_t growth_interval = 2000;
};

/// Scale and growth tracker live on the device.
class GradScaler {
 public:
  /// Throws Error naming an option that is out of range.
  explicit GradScaler(at::Device device, GradScalerOptions options = {});

  /// float32 {1}.
  const at::Tensor& scale() const { return scale_; }
  /// int32 {1}: finite updates since the scale last changed.
  const at::Tensor& growth_tracker() const { return growth_tracker_; }
  /// Divides all gradients by the scale in place; call it once a window with the gradients of all groups. Returns
  /// float32 {1}: 1 when any of them is not finite, else 0.
  at::Tensor unscale_(std::vector<at::Tensor>& gradients) const;
  /// After every window: `found_inf` (float32 {1}) 1 shrinks the scale, 0 counts towards growth.
  void update(const at::Tensor& found_inf);

  /// Copies scale (float32 {1}) and growth tracker (int32 {1}) from a checkpoint.
  void load_state(const at::Tensor& scale, const at::Tensor& growth_tracker);

 private:
  GradScalerOptions options_;
  at::Tensor scale_;
  at::Tensor growth_tracker_;
};

}  // namespace lope
