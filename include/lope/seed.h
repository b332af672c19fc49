#pragma once
// Seeds: the global generators that weight initialisation and dropout draw from, and seeds derived from others.
//
//   lope::set_seed(42);
//   lope::GeneratorGuard guard(device);     // what happens in this block leaves the generators as they were

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "lope/tensor_map.h"

namespace lope {

/// Seeds the default generators of the CPU and of every accelerator.
void set_seed(uint64_t seed);

/// A seed that is a function of both numbers, well mixed (SplitMix64, Steele et al. 2014).
uint64_t derive_seed(uint64_t seed, uint64_t index);

/// The states of the default generators of the CPU and of every accelerator, as uint8 tensors by device: "cpu",
/// "cuda:0". What a checkpoint keeps so that dropout goes on as it would have.
TensorMap generator_states();
/// Puts them back. A device that is not here is left out. Throws Error naming a state that is not one.
void load_generator_states(const TensorMap& states);

/// Saves the states of the default generators of the CPU and `device`, and puts them back when it ends.
class GeneratorGuard {
 public:
  explicit GeneratorGuard(at::Device device);
  ~GeneratorGuard();
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  std::vector<std::pair<at::Generator, at::Tensor>> saved_;
};

}  // namespace lope
