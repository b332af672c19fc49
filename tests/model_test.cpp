#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <lope/model.h>
#include <lope/optimizers.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <string>
#include <utility>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"
#include "support/toy.h"

namespace lope {
namespace {

using testing::error_of;
using Names = std::vector<std::string>;

Names names_of(const Model& model) {
  Names names;
  for (const auto& parameter : model.parameters()) names.push_back(parameter.name);
  return names;
}

Names names_of(const TensorMap& tensors) {
  Names names;
  for (const auto& item : tensors) names.push_back(item.first);
  return names;
}

/// A user's own layer, whose type alone tells what it is.
struct RMSNormImpl : torch::nn::Module {
  at::Tensor gain = register_parameter("gain", at::ones({2}));
};

/// Every parameter is 1. The head is tied to the first layer; the normalisation layers have names that say nothing.
struct Net : torch::nn::Module {
  Net() {
    head = register_parameter("head", first->weight);
    for (auto& parameter : parameters()) at::Tensor(parameter).detach().fill_(1.0);
  }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(2, 2));
  torch::nn::LayerNorm a = register_module("a", torch::nn::LayerNorm(torch::nn::LayerNormOptions({2})));
  torch::nn::BatchNorm1d b = register_module("b", torch::nn::BatchNorm1d(2));
  std::shared_ptr<RMSNormImpl> c = register_module("c", std::make_shared<RMSNormImpl>());
  at::Tensor head;
};

/// y = x · w + bias, with a buffer and a submodule whose type is a normalisation layer.
torch::jit::Module script() {
  torch::jit::Module module("Script");
  module.register_parameter("w", at::zeros({1}).requires_grad_(), false);
  module.register_parameter("bias", at::zeros({1}).requires_grad_(), false);
  module.register_buffer("calls", at::zeros({1}));
  // As in every module that Python saves.
  module.register_attribute("training", c10::BoolType::get(), true);
  torch::jit::Module layer("MyRMSNorm");
  layer.register_attribute("training", c10::BoolType::get(), true);
  layer.register_parameter("gain", at::ones({1}).requires_grad_(), false);
  module.register_module("inner", layer);
  module.define("def forward(self, x):\n    return x * self.w * self.inner.gain + self.bias\n");
  return module;
}

TEST(Model, ListsParametersInTheOrderOfRegistration) {
  const Model model(torch::nn::Linear(2, 3));
  EXPECT_EQ(names_of(model), (Names{"weight", "bias"}));
}

TEST(Model, ATiedTensorAppearsOnceUnderItsFirstName) {
  const auto net = std::make_shared<Net>();
  const Model model(net);
  // A module's own parameters come before those of its children.
  EXPECT_EQ(names_of(model), (Names{"head", "first.bias", "a.weight", "a.bias", "b.weight", "b.bias", "c.gain"}));
  EXPECT_FALSE(model.state().contains("first.weight"));
}

TEST(Model, StateHoldsFrozenParametersAndBuffersToo) {
  const auto net = std::make_shared<Net>();
  net->first->bias.set_requires_grad(false);
  const Model model(net);
  EXPECT_EQ(names_of(model), (Names{"head", "a.weight", "a.bias", "b.weight", "b.bias", "c.gain"}));
  EXPECT_EQ(names_of(model.state()), (Names{"a.bias", "a.weight", "b.bias", "b.num_batches_tracked", "b.running_mean",
                                            "b.running_var", "b.weight", "c.gain", "first.bias", "head"}));
}

TEST(Model, StateIsTheModelsOwnMemory) {
  const auto net = std::make_shared<Net>();
  const Model model(net);
  model.state().at("head").fill_(7.0);
  EXPECT_EQ(net->first->weight[0][0].item<double>(), 7.0);
}

TEST(Model, WeightDecaySparesBiasesAndNormalisationLayersByTypeAndName) {
  const auto net = std::make_shared<Net>();
  const Model model(net);
  AdamW optimizer(parameter_groups(model, 0.1));
  for (const auto& parameter : model.parameters()) parameter.tensor.mutable_grad() = at::zeros_like(parameter.tensor);
  optimizer.step({.learning_rate = 0.1});
  for (const auto& parameter : model.parameters()) {
    const double expected = parameter.name == "head" ? 0.99 : 1.0;
    EXPECT_NEAR(parameter.tensor.flatten()[0].item<double>(), expected, 1e-7) << parameter.name;
  }
}

TEST(Model, NamesThatDoNotDecay) {
  const std::vector<std::pair<std::string, bool>> table{{"weight", true},
                                                        {"h.0.attn.c_attn.weight", true},
                                                        {"lnet.weight", true},
                                                        {"bnb.weight", true},
                                                        {"bias", false},
                                                        {"h.0.attn.c_attn.bias", false},
                                                        {"lstm.bias_hh_l0", false},
                                                        {"position_bias", false},
                                                        {"norm1.weight", false},
                                                        {"bn1.weight", false},
                                                        {"h.0.ln_1.weight", false},
                                                        {"ln_f.weight", false},
                                                        {"LayerNorm.gain", false},
                                                        {"encoder.layer_norm.weight", false}};
  for (const auto& [name, decays] : table) EXPECT_EQ(decays_by_name(name), decays) << name;
}

TEST(Model, SwitchesBetweenTrainingAndEvaluation) {
  const auto net = std::make_shared<Net>();
  Model model(net);
  EXPECT_TRUE(model.is_training());
  model.train(false);
  EXPECT_FALSE(net->b->is_training());
  model.train();
  EXPECT_TRUE(net->b->is_training());
}

TEST(Model, NothingToTrainIsRefused) {
  EXPECT_EQ(error_of([] { Model(std::shared_ptr<torch::nn::Module>()); }), "model: it is null: give a module");
  const torch::nn::Linear frozen(1, 1);
  for (auto& parameter : frozen->parameters()) parameter.set_requires_grad(false);
  EXPECT_EQ(error_of([&] { Model{frozen}; }),
            "model: no parameter requires a gradient: register parameters, or unfreeze some");
}

TEST(TorchScriptModel, HasNamesDecayStateAndModes) {
  const torch::jit::Module module = script();
  Model model(module);
  EXPECT_EQ(names_of(model), (Names{"w", "bias", "inner.gain"}));
  EXPECT_TRUE(model.parameters()[0].decay);
  EXPECT_FALSE(model.parameters()[1].decay);
  EXPECT_FALSE(model.parameters()[2].decay);
  EXPECT_EQ(names_of(model.state()), (Names{"bias", "calls", "inner.gain", "w"}));
  model.train(false);
  EXPECT_FALSE(module.is_training());
}

class ModelOnDevice : public testing::DeviceTest {};

TEST_P(ModelOnDevice, MovesParametersAndBuffers) {
  const auto net = std::make_shared<Net>();
  Model model(net);
  model.to(device());
  EXPECT_EQ(model.device().type(), device().type());
  for (const auto& [name, tensor] : model.state()) EXPECT_EQ(tensor.device().type(), device().type()) << name;
  EXPECT_TRUE(model.parameters()[0].tensor.is_same(net->first->weight));
}

TEST_P(ModelOnDevice, ATorchScriptModuleTrains) {
  torch::jit::Module module = script();
  Model model(module);
  model.to(device());
  SGD optimizer(parameter_groups(model, 0.0));
  // y = 2x + 1.
  const LossFunction loss = [&](const Batch& batch) {
    const at::Tensor output = module.forward({batch["x"]}).toTensor();
    return lope::mse_loss(output, batch["x"] * 2.0 + 1.0);
  };
  Stepper stepper(model, optimizer, loss, testing::constant_rate(0.05), {.max_grad_norm = 0.0});
  const std::vector<Batch> window{{{"x", at::full({1}, -1.0)}}, {{"x", at::full({1}, 1.0)}}};
  for (int i = 0; i < 200; ++i) stepper.step(window);
  EXPECT_NEAR(module.forward({at::full({1}, 3.0).to(device())}).toTensor().item<double>(), 7.0, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Devices, ModelOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace lope
