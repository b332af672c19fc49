#pragma once
// The smallest model there is: one weight w = 0 and the loss ½(w·x − y)² a row, so that every number can be checked by
// hand. With x = y = 1 the gradient is w − 1, and gradient descent with rate 0.1 gives w = 0.1, 0.19, 0.271, 0.3439 …
//
//   Toy toy;
//   SGD sgd(parameter_groups(toy.model, 0.0));
//   Stepper stepper(toy.model, sgd, toy.loss(), constant_rate(0.1));
//   stepper.step(window({{1, 1, 1}, {5}}));          // two micro-batches of 3 and 1 targets
//   EXPECT_NEAR(toy.w(), 0.2, 1e-7);

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <lope/batch.h>
#include <lope/loss.h>
#include <lope/model.h>
#include <lope/stepper.h>
#include <torch/nn/module.h>

#include <memory>
#include <vector>

namespace lope::testing {

struct ToyModule : torch::nn::Module {
  at::Tensor w = register_parameter("w", at::zeros({1}));
};

struct Toy {
  explicit Toy(at::Device device = at::kCPU) { model.to(device); }

  std::shared_ptr<ToyModule> module = std::make_shared<ToyModule>();
  Model model{module};

  double w() const { return module->w.item<double>(); }

  /// The sum over the batch's rows of ½(w·x − y)²; x is 1 where the batch has none.
  LossFunction loss() const {
    return [toy = module](const Batch& batch) -> Loss {
      const at::Tensor& y = batch["y"];
      const at::Tensor x = batch.contains("x") ? batch["x"] : at::ones_like(y);
      return {(toy->w * x - y).square().sum() * 0.5, batch.rows()};
    };
  }

  /// The same as a plain mean.
  LossFunction mean_loss() const {
    return [toy = module](const Batch& batch) { return (toy->w - batch["y"]).square().mean() * 0.5; };
  }
};

inline RateFunction constant_rate(double rate) {
  return [rate](int64_t) { return rate; };
}

/// A micro-batch of these targets.
inline Batch targets(const std::vector<double>& values) {
  return {{"y", at::tensor(values, at::TensorOptions(at::kFloat))}};
}

/// One micro-batch for each list of targets.
inline std::vector<Batch> window(const std::vector<std::vector<double>>& micro_batches) {
  std::vector<Batch> batches;
  batches.reserve(micro_batches.size());
  for (const auto& values : micro_batches) batches.push_back(targets(values));
  return batches;
}

/// `count` micro-batches of one row with target 1.
inline std::vector<Batch> ones(int64_t count) {
  return window(std::vector<std::vector<double>>(static_cast<size_t>(count), {1.0}));
}

}  // namespace lope::testing
