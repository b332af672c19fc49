#include "lope/cuda_device.h"

#include <gtest/gtest.h>

namespace {

TEST(CudaDevice, Bf16AndTf32NeedComputeCapability8) {
  lope::CudaDevice turing{"Turing", 7, 5, 0};
  lope::CudaDevice ampere{"Ampere", 8, 0, 0};
  EXPECT_FALSE(turing.supports_bf16());
  EXPECT_FALSE(turing.supports_tf32());
  EXPECT_TRUE(ampere.supports_bf16());
  EXPECT_TRUE(ampere.supports_tf32());
}

}  // namespace
