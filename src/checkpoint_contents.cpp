#include "checkpoint_contents.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "lope/checkpoint_folder.h"

namespace lope {
namespace {

bool fits(const at::Tensor& buffer, const at::Tensor& tensor) {
  return buffer.defined() && buffer.sizes() == tensor.sizes() && buffer.scalar_type() == tensor.scalar_type();
}

at::Tensor make_buffer(const at::Tensor& tensor) {
  return at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()).pinned_memory(tensor.is_cuda()));
}

}  // namespace

void write_checkpoint(const std::filesystem::path& folder, const CheckpointContents& contents) {
  CheckpointWriter writer(folder);
  for (const auto& [name, tensors] : contents.tensors) writer.write_tensors(name, tensors);
  for (const auto& [name, text] : contents.texts) writer.write_text(name, text);
  writer.commit();
}

std::map<std::string, TensorMap> HostCopies::copy(const std::map<std::string, TensorMap>& live) {
  const at::NoGradGuard no_grad;
  std::map<std::string, TensorMap> next;
  bool on_device = false;
  for (const auto& [file, tensors] : live) {
    for (const auto& [name, tensor] : tensors) {
      at::Tensor buffer = buffers_[file][name];
      if (!fits(buffer, tensor)) buffer = make_buffer(tensor);
      buffer.copy_(tensor, /*non_blocking=*/true);
      on_device = on_device || !tensor.is_cpu();
      next[file].emplace(name, std::move(buffer));
    }
  }
  // The copies are on the device's queue: they have to be there before training goes on to change their sources.
  if (on_device) at::accelerator::synchronizeDevice(at::accelerator::getDeviceIndex());
  return buffers_ = std::move(next);
}

}  // namespace lope
