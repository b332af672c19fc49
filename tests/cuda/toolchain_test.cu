// Shows that the build compiles and links kernels, and where a device is present that they run.

#include <gtest/gtest.h>

#include <cuda_runtime.h>

#include "lope/cuda_device.h"

namespace {

__global__ void add_one(int* values, int count) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index < count) {
    values[index] += 1;
  }
}

TEST(CudaToolchain, AKernelAddsOneToEachValue) {
  if (lope::cuda_devices().empty()) {
    GTEST_SKIP() << "no CUDA device";
  }
  constexpr int kCount = 3;
  int values[kCount] = {1, 2, 3};
  int* on_device = nullptr;
  ASSERT_EQ(cudaMalloc(&on_device, sizeof(values)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(on_device, values, sizeof(values), cudaMemcpyHostToDevice), cudaSuccess);
  add_one<<<1, 32>>>(on_device, kCount);
  ASSERT_EQ(cudaMemcpy(values, on_device, sizeof(values), cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaFree(on_device), cudaSuccess);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(values[2], 4);
}

TEST(CudaToolchain, TheBuildSaysThatItHasCuda) { EXPECT_TRUE(lope::built_with_cuda()); }

}  // namespace
