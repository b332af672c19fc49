#include <ATen/ATen.h>

#include <cstdio>

#include "lope/cuda_device.h"

int main() {
  const double sum = at::ones({3}).sum().item<double>();
  std::printf("lope links: %g, %zu CUDA devices, built %s CUDA\n", sum, lope::cuda_devices().size(),
              lope::built_with_cuda() ? "with" : "without");
  return sum == 3.0 ? 0 : 1;
}
