#include "lope/seed.h"

#include <ATen/Context.h>

#include <ATen/DeviceAccelerator.h>
#include <fmt/format.h>

#include <mutex>

#include "lope/error.h"

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

std::vector<at::Device> all_devices() {
  std::vector<at::Device> devices{at::kCPU};
  const auto accelerator = at::accelerator::getAccelerator();
  if (!accelerator) return devices;
  for (c10::DeviceIndex i = 0; i < at::accelerator::deviceCount(); ++i) devices.emplace_back(*accelerator, i);
  return devices;
}

void load(at::Device device, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  try {
    generator.set_state(state.contiguous());
  } catch (const std::exception& error) {
    throw Error(fmt::format("generator state of {}: {}: the state is not one of this device's", device.str(),
                            first_line(error.what())));
  }
}

}  // namespace

TensorMap generator_states() {
  TensorMap states;
  for (const at::Device device : all_devices()) states.emplace(device.str(), save(device).second);
  return states;
}

void load_generator_states(const TensorMap& states) {
  for (const at::Device device : all_devices()) {
    const auto found = states.find(device.str());
    if (found != states.end()) load(device, found->second);
  }
}

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
