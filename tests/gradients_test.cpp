#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/gradients.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"
#include "support/threads.h"

namespace lope {
namespace {

using testing::error_of;

Parameter with_gradient(const std::string& name, const at::Tensor& gradient) {
  at::Tensor tensor = at::zeros(gradient.sizes(), gradient.options().layout(at::kStrided)).requires_grad_();
  tensor.mutable_grad() = gradient;
  return {name, tensor};
}

class GradientsOnDevice : public testing::DeviceTest {
 protected:
  /// (3) and (4): their norm is 5.
  std::vector<at::Tensor> three_and_four() const {
    return {at::full({1}, 3.0).to(device()), at::full({1}, 4.0).to(device())};
  }
};

TEST_P(GradientsOnDevice, NormIsThatOfAllElementsTogether) {
  const at::Tensor norm = grad_norm(three_and_four());
  EXPECT_EQ(norm.item<double>(), 5.0);
  EXPECT_EQ(norm.device().type(), device().type());
  EXPECT_EQ(norm.scalar_type(), at::kFloat);
}

TEST_P(GradientsOnDevice, ClippingByNormReturnsTheNormBefore) {
  const auto gradients = three_and_four();
  EXPECT_EQ(clip_grad_norm_(gradients, 1.0).item<double>(), 5.0);
  EXPECT_NEAR(gradients[0].item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(gradients[1].item<double>(), 0.8, 1e-6);
}

TEST_P(GradientsOnDevice, ASmallNormIsLeftAlone) {
  const auto gradients = three_and_four();
  clip_grad_norm_(gradients, 6.0);
  EXPECT_EQ(gradients[0].item<double>(), 3.0);
}

TEST_P(GradientsOnDevice, ClippingByValueClampsEachElement) {
  const std::vector<at::Tensor> gradients{at::tensor({-3.0F, 0.5F, 2.0F}).to(device())};
  clip_grad_value_(gradients, 1.0);
  EXPECT_TRUE(gradients[0].cpu().equal(at::tensor({-1.0F, 0.5F, 1.0F})));
}

INSTANTIATE_TEST_SUITE_P(Devices, GradientsOnDevice, testing::every_device(), testing::device_name);

TEST(Gradients, ParametersWithoutOneAreLeftOut) {
  const std::vector<Parameter> parameters{with_gradient("a", at::ones({2})), {"b", at::zeros({2})}};
  EXPECT_EQ(gradients(parameters).size(), 1U);
  zero_grad(parameters);
  EXPECT_TRUE(gradients(parameters).empty());
}

TEST(Gradients, ASparseOneIsRefusedByName) {
  const at::Tensor sparse = at::sparse_coo_tensor(at::zeros({1, 1}, at::kLong), at::ones({1}), {3});
  const std::vector<Parameter> parameters{with_gradient("wte.weight", sparse)};
  EXPECT_EQ(error_of([&] { gradients(parameters); }),
            "gradient of \"wte.weight\" is sparse: make it dense, for example with Embedding's sparse(false)");
}

TEST(Gradients, NormOfNothingIsZero) { EXPECT_EQ(grad_norm({}).item<double>(), 0.0); }

TEST(Gradients, NormOfDoublesIsDouble) {
  const at::Tensor norm = grad_norm({at::full({2}, 0.1, at::kDouble)});
  EXPECT_EQ(norm.scalar_type(), at::kDouble);
  EXPECT_NEAR(norm.item<double>(), 0.1 * std::sqrt(2.0), 1e-15);
}

TEST(Gradients, NormOfHalvesDoesNotOverflow) {
  EXPECT_NEAR(grad_norm({at::full({10000}, 1000.0, at::kHalf)}).item<double>(), 1e5, 1.0);
}

TEST(Gradients, NormOfAnythingNotFiniteIsNotFinite) {
  EXPECT_TRUE(std::isinf(grad_norm({at::tensor({1.0F, std::numeric_limits<float>::infinity()})}).item<double>()));
  EXPECT_TRUE(std::isnan(grad_norm({at::tensor({std::numeric_limits<float>::quiet_NaN(), 1.0F})}).item<double>()));
}

TEST(Gradients, NormIsTheSameToTheBitWithOneThreadAndTwo) {
  const std::vector<at::Tensor> gradients{at::randn({1000, 1001}), at::randn({3}), at::randn({8192}),
                                          at::randn({8193})};
  const at::Tensor alone = testing::with_threads(1, [&] { return grad_norm(gradients); });
  const at::Tensor together = testing::with_threads(2, [&] { return grad_norm(gradients); });
  EXPECT_TRUE(alone.equal(together));
  double squares = 0;
  for (const auto& gradient : gradients) squares += gradient.to(at::kDouble).square().sum().item<double>();
  EXPECT_NEAR(alone.item<double>(), std::sqrt(squares), 1e-4 * std::sqrt(squares));
}

TEST(Gradients, NormOfAGradientWithGapsCountsEachElementOnce) {
  const at::Tensor wide = at::ones({4, 10});
  EXPECT_EQ(grad_norm({wide.narrow(1, 0, 4)}).item<double>(), 4.0);
  EXPECT_EQ(grad_norm({at::ones({1}).expand({4})}).item<double>(), 2.0);
}

TEST(Gradients, LimitsThatAreNotAboveZeroAreRefused) {
  EXPECT_EQ(error_of([] { clip_grad_norm_({at::ones({1})}, 0.0); }), "max_norm is 0: it must be above 0");
  EXPECT_EQ(error_of([] { clip_grad_value_({at::ones({1})}, -1.0); }), "max_value is -1: it must be above 0");
}

}  // namespace
}  // namespace lope
