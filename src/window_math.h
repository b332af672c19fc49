#pragma once
// The scalar arithmetic at the end of a window: one function, for the host and for a one-thread CUDA kernel.

#include <cmath>

#ifdef __CUDACC__
#define LOPE_HOST_DEVICE __host__ __device__
#else
#define LOPE_HOST_DEVICE
#endif

namespace lope::window {

/// What the host knows.
struct Settings {
  double reference = 1.0;      ///< gradients were made of sum · scale / reference
  double max_grad_norm = 0.0;  ///< 0: no clipping
};

/// What the window has brought.
struct Inputs {
  double norm = 0.0;       ///< of the gradients as they are
  double clip_norm = 0.0;  ///< the same after clipping by value
  double loss_sum = 0.0;
  double items = 0.0;
  double scale = 1.0;  ///< of the loss scaler
  double learning_rate = 0.0;
};

/// The values of StepReport, in its order.
struct Values {
  double loss;
  double grad_norm;
  double learning_rate;
  double skipped;
  double nonfinite;
  double items;
};

/// Sums over windows. The first two are taken back to 0 when they are read.
struct Totals {
  double loss_sum;
  double windows;
  double applied;
  double skipped;
  double nonfinite;
  double nonfinite_run;
  Values last;
};

/// What the optimizer kernels take.
struct Scalars {
  float grad_scale;
  float grad_factor;
  float skip;
  float nonfinite;
  float learning_rate;
};

/// A window without items and one with a non-finite gradient are skipped; the first is no sign of an overflow. The
/// clipping factor is min(1, max_norm / (norm + 1e-6)) in float32, as in torch.nn.utils.clip_grad_norm_.
LOPE_HOST_DEVICE inline void finish(const Settings& settings, const Inputs& in, Totals& totals, Values& values,
                                    Scalars& scalars) {
  const bool nonfinite = !(in.norm - in.norm == 0.0);
  const bool empty = in.items == 0.0;
  const bool skip = nonfinite || empty;
  const double items = empty ? 1.0 : in.items;
  const double factor = settings.reference / (in.scale * items);
  float clip = 1.0F;
  if (settings.max_grad_norm > 0.0) {
    const float limit =
        static_cast<float>(settings.max_grad_norm) / (static_cast<float>(in.clip_norm * factor) + 1e-6F);
    clip = limit < 1.0F ? limit : 1.0F;
  }
  const double multiplier = factor * static_cast<double>(clip);
  values = {empty ? 0.0 : in.loss_sum / items,
            in.norm * factor,
            in.learning_rate,
            skip ? 1.0 : 0.0,
            nonfinite ? 1.0 : 0.0,
            in.items};
  scalars = {static_cast<float>(1.0 / multiplier), static_cast<float>(multiplier), skip ? 1.0F : 0.0F,
             nonfinite ? 1.0F : 0.0F, static_cast<float>(in.learning_rate)};
  totals.loss_sum += values.loss;
  totals.windows += empty ? 0.0 : 1.0;
  totals.applied += skip ? 0.0 : 1.0;
  totals.skipped += values.skipped;
  totals.nonfinite += values.nonfinite;
  totals.nonfinite_run = nonfinite ? totals.nonfinite_run + 1.0 : (empty ? totals.nonfinite_run : 0.0);
  totals.last = values;
}

}  // namespace lope::window
