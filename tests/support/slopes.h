#pragma once
// Two weights a and b, each 0, with the gradients that a batch asks for: the loss is a·ga + b·gb, one item a row.
//
//   Slopes slopes;
//   stepper.step(std::vector{slope(3, 4)});       // gradient (3, 4), of norm 5

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <lope/batch.h>
#include <lope/loss.h>
#include <lope/model.h>
#include <lope/optimizer.h>
#include <torch/nn/module.h>

#include <memory>
#include <vector>

namespace lope::testing {

struct SlopesModule : torch::nn::Module {
  at::Tensor a = register_parameter("a", at::zeros({1}));
  at::Tensor b = register_parameter("b", at::zeros({1}));
};

struct Slopes {
  explicit Slopes(at::Device device = at::kCPU) { model.to(device); }

  std::shared_ptr<SlopesModule> module = std::make_shared<SlopesModule>();
  Model model{module};

  double a() const { return module->a.item<double>(); }
  double b() const { return module->b.item<double>(); }

  LossFunction loss() const {
    return [own = module](const Batch& batch) -> Loss {
      return {(own->a * batch["ga"] + own->b * batch["gb"]).sum(), batch.rows()};
    };
  }

  /// One group for each weight.
  std::vector<ParameterGroup> two_groups() const {
    return {{.parameters = {model.parameters()[0]}}, {.parameters = {model.parameters()[1]}}};
  }
};

inline Batch slope(double ga, double gb = 0.0) { return {{"ga", at::full({1}, ga)}, {"gb", at::full({1}, gb)}}; }

/// Finite itself, but not when multiplied by a loss scale of 65536.
inline constexpr double kTooSteep = 1e34;

}  // namespace lope::testing
