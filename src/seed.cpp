#include "lope/seed.h"

#include <ATen/Context.h>

#include <mutex>

namespace lope {

void set_seed(uint64_t seed) { at::manual_seed(seed); }

uint64_t derive_seed(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

namespace {

std::pair<at::Generator, at::Tensor> save(at::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return {generator, generator.get_state()};
}

}  // namespace

GeneratorGuard::GeneratorGuard(at::Device device) {
  saved_.push_back(save(at::kCPU));
  if (!device.is_cpu()) saved_.push_back(save(device));
}

GeneratorGuard::~GeneratorGuard() {
  for (auto& [generator, state] : saved_) {
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
}

}  // namespace lope
