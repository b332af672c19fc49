#include "lope/device.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <fmt/format.h>

#include "lope/cuda_device.h"
#include "lope/error.h"

namespace lope {
namespace {

at::Device parse(const std::string& name) {
  try {
    return at::Device(name);
  } catch (const std::exception&) {
    throw Error(fmt::format("device is \"{}\": it must be auto, cpu, cuda or cuda:<number>", name));
  }
}

at::Device checked_cuda(at::Device device, size_t count) {
  const int64_t index = device.has_index() ? device.index() : 0;
  if (index >= static_cast<int64_t>(count)) {
    throw Error(fmt::format("device is {}: this machine has {} CUDA devices that Lope can use; choose --device cpu",
                            device.str(), count));
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

void check_abilities(const TrainingArguments& arguments, const CudaDevice& device) {
  if (arguments.bf16 && !device.supports_bf16()) {
    throw Error(fmt::format("bf16 is on: {} cannot compute in bfloat16 (it needs compute capability 8.0); use fp16",
                            device.name));
  }
  if (arguments.tf32.value_or(false) && !device.supports_tf32()) {
    throw Error(fmt::format("tf32 is on: {} has no TF32 (it needs compute capability 8.0); turn it off", device.name));
  }
}

}  // namespace

at::Device pick_device(const TrainingArguments& arguments) {
  const bool automatic = arguments.device.empty() || arguments.device == "auto";
  const auto cuda = arguments.use_cpu ? std::vector<CudaDevice>{} : cuda_devices();
  const bool cpu = arguments.use_cpu || (automatic && cuda.empty());
  if (cpu) return at::kCPU;
  const at::Device wanted = automatic ? at::Device(at::kCUDA, 0) : parse(arguments.device);
  if (wanted.is_cpu()) return at::kCPU;
  if (!wanted.is_cuda())
    throw Error(fmt::format("device is \"{}\": it must be auto, cpu, cuda or cuda:<number>", arguments.device));
  const at::Device device = checked_cuda(wanted, cuda.size());
  check_abilities(arguments, cuda[static_cast<size_t>(device.index())]);
  return device;
}

Precision pick_precision(const TrainingArguments& arguments) {
  if (arguments.bf16) return Precision::kBf16;
  return arguments.fp16 ? Precision::kFp16 : Precision::kFp32;
}

void apply_compute_settings(const TrainingArguments& arguments) {
  auto& context = at::globalContext();
  if (arguments.tf32) {
    context.setAllowTF32CuBLAS(*arguments.tf32);
    context.setAllowTF32CuDNN(*arguments.tf32);
  }
  if (arguments.full_determinism) {
    context.setDeterministicAlgorithms(true, /*warn_only=*/false);
    context.setDeterministicCuDNN(true);
    context.setBenchmarkCuDNN(false);
  }
}

MemoryStatistics memory_statistics(at::Device device) {
  if (device.is_cpu() || !at::accelerator::isAccelerator(device.type())) return {};
  const auto stats = at::accelerator::getDeviceStats(device.index());
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return {.allocated = stats.allocated_bytes[kAll].current,
          .peak_allocated = stats.allocated_bytes[kAll].peak,
          .reserved = stats.reserved_bytes[kAll].current};
}

}  // namespace lope
