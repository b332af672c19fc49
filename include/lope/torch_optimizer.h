#pragma once
// Any torch::optim::Optimizer in the place of one of ours, your own included.
//
//   auto theirs = std::make_unique<MyLion>(net->parameters(), MyLionOptions(1e-4));
//   lope::TorchOptimizer optimizer(std::move(theirs), model);
//   lope::Stepper stepper(model, optimizer, loss, rate);

#include <memory>
#include <string>
#include <vector>

#include "lope/model.h"
#include "lope/optimizer.h"

namespace torch::optim {
class Optimizer;
}

namespace lope {

/// Steps of a torch::optim::Optimizer. They cannot be skipped on the device: when the parameters are not on the CPU,
/// each update reads one value on the host. The learning rate given to `step` is set on every parameter group; the
/// ratio of a group's first rate to that of the first group is kept.
class TorchOptimizer : public Optimizer {
 public:
  /// Throws Error when `optimizer` is null, has a parameter that is not one of `model`'s or is given twice, needs a
  /// closure (LBFGS), or when rates differ and the first group's is 0.
  TorchOptimizer(std::shared_ptr<torch::optim::Optimizer> optimizer, const Model& model);
  ~TorchOptimizer() override;

  void step(const Update& update) override;
  void reset() override;
  /// Two uint8 tensors: "torch_optimizer.archive", which LibTorch's own `save` wrote, and "torch_optimizer.layout", the
  /// text that says which parameters, by name, it belongs to.
  TensorMap state() const override;
  /// Parameters may be in another order than when they were saved: state goes by name. Settings (betas, decay …) stay
  /// as they are. Throws Error when kind, names, shapes or types differ, or the archive is damaged; then nothing
  /// changes.
  void load_state(const TensorMap& state) override;

 private:
  /// One line for the kind and one for each parameter, in the order of the optimizer.
  std::vector<std::string> layout() const;
  std::string archive() const;
  void read_archive(const std::string& bytes);
  /// Puts the parameters into the order of `lines`, which has the same lines as `layout()`.
  void reorder(const std::vector<std::string>& lines);

  std::shared_ptr<torch::optim::Optimizer> optimizer_;
  Model model_;
  std::vector<double> rate_factors_;
};

}  // namespace lope
