#pragma once
// One body of tests for every device: skipped, with the reason, where the device is absent.
//
//   class StepperTest : public DeviceTest {};
//   TEST_P(StepperTest, Learns) { auto x = at::ones({1}, device()); ... }
//   INSTANTIATE_TEST_SUITE_P(Devices, StepperTest, every_device(), device_name);

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <string>

namespace lope::testing {

class DeviceTest : public ::testing::TestWithParam<at::DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == at::kCUDA && !at::globalContext().hasCUDA()) GTEST_SKIP() << "this machine has no CUDA device";
  }

  at::Device device() const { return {GetParam(), static_cast<c10::DeviceIndex>(GetParam() == at::kCUDA ? 0 : -1)}; }
};

inline auto every_device() { return ::testing::Values(at::kCPU, at::kCUDA); }

inline std::string device_name(const ::testing::TestParamInfo<at::DeviceType>& info) {
  return info.param == at::kCUDA ? "CUDA" : "CPU";
}

}  // namespace lope::testing
