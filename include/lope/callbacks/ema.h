#pragma once
// An exponential moving average of the weights.
//
//   auto ema = std::make_shared<lope::Ema>(model, 0.999);
//   trainer_options.callbacks = {ema};              // in a loop of your own: ema->update() after stepper.update()
//   ema->swap();  evaluate();  ema->swap();         // the averages in the model, and its own weights back

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lope/callback.h"
#include "lope/model.h"

namespace lope {

/// After each optimizer update, whatever number of micro-batches it had: average = decay · average + (1 − decay) ·
/// weight (Polyak and Juditsky 1992, in the form of Kingma and Ba 2015, 7.2), in the type of the weights. Makes no host
/// read. Averages are part of checkpoints. Buffers are not averaged.
class Ema : public Callback {
 public:
  /// Begins with the model's weights. Throws Error when `decay` is not in [0, 1).
  explicit Ema(Model model, double decay = 0.999);

  void update();
  /// Updates so far.
  int64_t updates() const { return updates_; }
  /// Exchanges the model's weights and the averages.
  void swap();
  /// By parameter name.
  TensorMap averages() const;

  /// Begins anew with the model's weights, unless training is resumed.
  void on_train_begin(const TrainingContext& context, Control& control) override;
  void on_step_end(const TrainingContext& context, const StepReport& report, Control& control) override;
  std::string_view name() const override { return "Ema"; }
  std::string state() const override;
  void load_state(const std::string& text) override;
  TensorMap tensors() const override { return averages(); }
  void load_tensors(const TensorMap& tensors) override;

 private:
  void begin();

  Model model_;
  double decay_;
  int64_t updates_ = 0;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> averages_;
};

}  // namespace lope
