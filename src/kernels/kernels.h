#pragma once
// One optimizer update over lists of tensors: own kernels on the CPU (one parallel region, no host read), ATen's fused
// kernels elsewhere. Each list has one entry a parameter, in the same order.

#include <ATen/core/Tensor.h>

#include <vector>

#include "lope/optimizer.h"

namespace lope::kernels {

/// What every kernel works on. Gradients are unspecified afterwards.
struct Lists {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> gradients;
  /// float32 {}: number of this update for the parameter, from 1; already advanced.
  std::vector<at::Tensor> steps;
  /// By slot, then by parameter.
  std::vector<std::vector<at::Tensor>> slots;
};

struct AdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  /// True: AdamW (Loshchilov and Hutter 2019); false: decay is added to the gradient (Kingma and Ba 2015).
  bool decoupled = true;
  /// False: on the CPU the operations of torch.optim one by one.
  bool fused = true;
};

struct SgdSettings {
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
};

struct AdagradSettings {
  double lr_decay = 0.0;
  double epsilon = 1e-10;
  double weight_decay = 0.0;
  bool fused = true;
};

struct RmspropSettings {
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0.0;
  double weight_decay = 0.0;
  bool centered = false;
  bool fused = true;
};

/// Slots: first and second moment.
void adam_(Lists& lists, const AdamSettings& settings, const Update& update);
/// Slots: momentum, or none.
void sgd_(Lists& lists, const SgdSettings& settings, const Update& update);
/// Slots: sum of squares.
void adagrad_(Lists& lists, const AdagradSettings& settings, const Update& update);
/// On the CPU only. Slots: mean square, then the momentum where it is above 0, then the mean where it is centred.
void rmsprop_cpu_(Lists& lists, const RmspropSettings& settings, const Update& update);

/// What a CPU kernel needs of an update, read without ATen.
struct HostUpdate {
  explicit HostUpdate(const Update& update);

  double learning_rate;
  double inverse_scale = 1.0;
  bool skip = false;
};

/// The same on the CPU without a fused kernel: the operations and roundings of torch.optim.
void adam_eager_(Lists& lists, const AdamSettings& settings, const HostUpdate& update);
void rmsprop_eager_(Lists& lists, const RmspropSettings& settings, const HostUpdate& update);
void adagrad_eager_(Lists& lists, const AdagradSettings& settings, const HostUpdate& update);

}  // namespace lope::kernels
