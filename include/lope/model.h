#pragma once
// A thin view of what is trained: named parameters and buffers of a torch::nn::Module or a TorchScript module.
//
//   auto net = std::make_shared<Net>();                // derived from torch::nn::Module
//   lope::Model model(net);
//   for (const auto& parameter : model.parameters()) use(parameter.name, parameter.tensor);

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lope/tensor_map.h"

namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}

namespace lope {

/// A trainable tensor, its name in the module, and whether weight decay applies to it.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  /// False for biases and for everything in a normalisation layer, found by the module's type and by name.
  bool decay = true;
};

/// Shares the module with the user. A tensor that is registered under several names (tied) appears once, under the
/// first.
class Model {
 public:
  /// Throws Error when `module` is null or has no parameter that requires a gradient.
  Model(std::shared_ptr<torch::nn::Module> module);  // NOLINT(google-explicit-constructor)
  template <typename Derived>
  Model(const std::shared_ptr<Derived>& module)  // NOLINT(google-explicit-constructor)
      : Model(std::shared_ptr<torch::nn::Module>(module)) {}
  Model(const torch::jit::Module& module);  // NOLINT(google-explicit-constructor)
  /// From a module holder such as torch::nn::Linear.
  template <typename Holder>
    requires requires(const Holder& holder) { std::shared_ptr<torch::nn::Module>(holder.ptr()); }
  Model(const Holder& holder) : Model(std::shared_ptr<torch::nn::Module>(holder.ptr())) {}  // NOLINT

  /// Parameters that require a gradient, in registration order.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Every parameter (frozen ones too) and buffer by name: what a weights file holds.
  TensorMap state() const;
  /// The further names of tied tensors, each with the name that `state` has: {"head": "embedding"}.
  std::map<std::string, std::string> tied_names() const;
  /// Where the parameters are.
  at::Device device() const;
  /// Moves parameters and buffers. Call it before an optimizer is made from the model.
  void to(at::Device device);
  bool is_training() const;
  /// Switches the module and its children between training and evaluation.
  void train(bool on = true);

 private:
  struct Hooks;

  void collect();

  std::shared_ptr<const Hooks> hooks_;
  std::vector<Parameter> parameters_;
};

/// Whether weight decay applies to a parameter of this name, judged by the name alone: not for "bias", and not inside
/// anything called norm, ln or bn ("encoder.norm1.weight", "h.0.ln_1.weight", "bn1.weight").
bool decays_by_name(const std::string& name);

}  // namespace lope
