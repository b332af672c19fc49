#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/grad_scaler.h>

#include <limits>
#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

constexpr float kInf = std::numeric_limits<float>::infinity();

class GradScalerOnDevice : public testing::DeviceTest {
 protected:
  at::Tensor flag(float value) const { return at::full({1}, value, at::TensorOptions(device()).dtype(at::kFloat)); }
};

TEST_P(GradScalerOnDevice, UnscalesEveryGradientOnceAndFindsNothing) {
  const GradScaler scaler(device());
  std::vector<at::Tensor> gradients{at::full({2}, 65536.0).to(device()), at::full({3}, 131072.0).to(device())};
  const at::Tensor found = scaler.unscale_(gradients);
  EXPECT_EQ(found.item<float>(), 0.0F);
  EXPECT_EQ(gradients[0][0].item<float>(), 1.0F);
  EXPECT_EQ(gradients[1][2].item<float>(), 2.0F);
}

TEST_P(GradScalerOnDevice, FindsWhatIsNotFiniteInAnyGradient) {
  const GradScaler scaler(device());
  for (const float bad : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<at::Tensor> gradients{at::ones({2}).to(device()), at::tensor({1.0F, bad}).to(device())};
    EXPECT_EQ(scaler.unscale_(gradients).item<float>(), 1.0F);
  }
}

TEST_P(GradScalerOnDevice, HalvesOnOverflowAndDoublesAfterTheInterval) {
  GradScaler scaler(device(), {.growth_interval = 2});
  std::vector<double> scales;
  for (const float found : {1.0F, 0.0F, 0.0F, 0.0F}) {
    scaler.update(flag(found));
    scales.push_back(scaler.scale().item<double>());
  }
  EXPECT_EQ(scales, (std::vector<double>{32768, 32768, 65536, 65536}));
  EXPECT_EQ(scaler.growth_tracker().item<int>(), 1);
}

TEST_P(GradScalerOnDevice, ContinuesFromASavedState) {
  GradScaler scaler(device(), {.growth_interval = 2});
  scaler.update(flag(1));
  scaler.update(flag(0));
  GradScaler resumed(device(), {.growth_interval = 2});
  resumed.load_state(scaler.scale().cpu(), scaler.growth_tracker().cpu());
  resumed.update(flag(0));
  EXPECT_EQ(resumed.scale().item<double>(), 65536.0);
}

INSTANTIATE_TEST_SUITE_P(Devices, GradScalerOnDevice, testing::every_device(), testing::device_name);

TEST(GradScaler, OptionsOutOfRangeAreRefused) {
  const auto refusal = [](const GradScalerOptions& options) {
    return error_of([&] { GradScaler(at::kCPU, options); });
  };
  EXPECT_EQ(refusal({.init_scale = 0}), "init_scale is 0: it must be a finite number above 0");
  EXPECT_EQ(refusal({.init_scale = kInf}), "init_scale is inf: it must be a finite number above 0");
  EXPECT_EQ(refusal({.growth_factor = 1}), "growth_factor is 1: it must be above 1");
  EXPECT_EQ(refusal({.backoff_factor = 1}), "backoff_factor is 1: it must be above 0 and below 1");
  EXPECT_EQ(refusal({.growth_interval = 0}), "growth_interval is 0: it must be 1 or more");
}

TEST(GradScaler, ADamagedStateIsRefused) {
  GradScaler scaler(at::kCPU);
  EXPECT_EQ(error_of([&] { scaler.load_state(at::ones({2}), at::zeros({1})); }),
            "scaler state: scale and growth tracker must be one number each: the state is damaged");
  EXPECT_EQ(scaler.scale().item<double>(), 65536.0);
}

}  // namespace
}  // namespace lope
