#include "lope/weights.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "lope/safetensors.h"
#include "support/device_test.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/toy.h"

namespace lope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TensorMap copies(const TensorMap& state) {
  TensorMap all;
  for (const auto& [name, tensor] : state) all.emplace(name, tensor.detach().clone());
  return all;
}

struct Net {
  torch::nn::Sequential net{torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(3)};
  Model model{net};
};

TEST(LoadWeights, CopiesParametersAndBuffers) {
  Net from;
  from.net->forward(at::ones({4, 2}));  // changes the running statistics
  Net to;
  EXPECT_TRUE(load_weights(to.model, from.model.state()).fits());
  for (const auto& [name, tensor] : from.model.state()) EXPECT_TRUE(to.model.state().at(name).equal(tensor)) << name;
}

TEST(LoadWeights, ReadsAFileOrItsFolder) {
  const TemporaryFolder folder;
  save_safetensors(folder / "model.safetensors", {{"w", at::full({1}, 3.0)}});
  Toy toy;
  load_weights(toy.model, folder / "model.safetensors");
  EXPECT_EQ(toy.w(), 3.0);
  load_weights(toy.model, TensorMap{{"w", at::zeros({1})}});
  load_weights(toy.model, folder.path());
  EXPECT_EQ(toy.w(), 3.0);
}

TEST(LoadWeights, ListsWhatDoesNotFitAndThenChangesNothing) {
  const TemporaryFolder folder;
  Net net;
  TensorMap weights = copies(net.model.state());
  weights.erase("0.bias");
  weights["1.bias"] = at::ones({2});
  weights["2.weight"] = at::ones({1});
  weights["0.weight"] = at::full({3, 2}, 9.0);
  save_safetensors(folder / "w.safetensors", weights);
  const TensorMap before = copies(net.model.state());
  EXPECT_EQ(error_of([&] { load_weights(net.model, folder / "w.safetensors"); }),
            (folder / "w.safetensors") +
                ": the weights do not fit the model: missing: 0.bias; extra: 2.weight; wrong shape: 1.bias: file (2), "
                "model (3); load others, or set strict to false");
  for (const auto& [name, tensor] : before) EXPECT_TRUE(net.model.state().at(name).equal(tensor)) << name;
}

TEST(LoadWeights, LoadsWhatFitsWhenNotStrict) {
  Net net;
  const WeightsReport report = load_weights(
      net.model, {{"0.weight", at::full({3, 2}, 9.0)}, {"1.bias", at::ones({2})}, {"other", at::ones({1})}},
      {.strict = false});
  EXPECT_THAT(report.missing,
              ElementsAre("0.bias", "1.num_batches_tracked", "1.running_mean", "1.running_var", "1.weight"));
  EXPECT_THAT(report.extra, ElementsAre("other"));
  EXPECT_THAT(report.wrong_shapes, ElementsAre("1.bias: file (2), model (3)"));
  EXPECT_FALSE(report.fits());
  EXPECT_TRUE(net.model.state().at("0.weight").equal(at::full({3, 2}, 9.0)));
}

TEST(LoadWeights, CutsLongListsShort) {
  Toy toy;
  TensorMap weights{{"w", at::ones({1})}};
  for (int i = 10; i < 25; ++i) weights.emplace("x" + std::to_string(i), at::ones({1}));
  EXPECT_THAT(error_of([&] { load_weights(toy.model, weights); }),
              HasSubstr("extra: x10, x11, x12, x13, x14, x15, x16, x17, x18, x19 and 5 more; load"));
}

TEST(LoadWeights, ConvertsTypes) {
  Toy toy;
  load_weights(toy.model, TensorMap{{"w", at::full({1}, 0.5, at::kHalf)}});
  EXPECT_EQ(toy.w(), 0.5);
}

class LoadWeightsDevice : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, LoadWeightsDevice, every_device(), device_name);

TEST_P(LoadWeightsDevice, AFileOfOneDeviceLoadsOnAnother) {
  const TemporaryFolder folder;
  Toy from(device());
  load_weights(from.model, TensorMap{{"w", at::full({1}, 2.5)}});
  save_safetensors(folder / "w.safetensors", from.model.state());
  Toy to;
  load_weights(to.model, folder / "w.safetensors");
  EXPECT_EQ(to.w(), 2.5);
  Toy back(device());
  load_weights(back.model, folder / "w.safetensors");
  EXPECT_EQ(back.w(), 2.5);
}

/// A head tied to the embedding, as in most language models.
struct TiedModule : torch::nn::Module {
  at::Tensor first = register_parameter("embedding", at::zeros({2}));
  at::Tensor second = register_parameter("head", first);
};

TEST(LoadWeights, ATiedTensorMayHaveAnyOrAllOfItsNames) {
  for (const TensorMap& weights : {TensorMap{{"embedding", at::ones({2})}}, TensorMap{{"head", at::ones({2})}},
                                   TensorMap{{"embedding", at::ones({2})}, {"head", at::ones({2})}}}) {
    Model model(std::make_shared<TiedModule>());
    EXPECT_EQ(error_of([&] { load_weights(model, weights); }), "no error");
    EXPECT_TRUE(model.state().at("embedding").equal(at::ones({2})));
  }
}

TEST(LoadWeights, FillsATorchScriptModule) {
  torch::jit::Module script("toy");
  script.register_parameter("w", at::zeros({1}).requires_grad_(), false);
  Model model(script);
  EXPECT_TRUE(load_weights(model, TensorMap{{"w", at::full({1}, 3.0)}}).fits());
  EXPECT_EQ(script.attr("w").toTensor().item<double>(), 3.0);
}

}  // namespace
}  // namespace lope::testing
