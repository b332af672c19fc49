#include "device_copy.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace lope {
namespace {

at::Device with_index(at::Device device) {
  if (device.is_cpu() || device.has_index()) return device;
  return c10::impl::VirtualGuardImpl(device.type()).getDevice();
}

}  // namespace

DeviceCopy::DeviceCopy(std::optional<at::Device> device) : device_(device) {
  if (!device_) return;
  device_ = with_index(*device_);
  if (!device_->is_cpu()) stream_ = c10::impl::VirtualGuardImpl(device_->type()).getStreamFromGlobalPool(*device_);
}

void DeviceCopy::start(LoadedBatch& loaded) const {
  if (!device_ || loaded.batch.is_on(*device_)) return;
  if (!stream_) {
    loaded.batch = loaded.batch.to(*device_);
    return;
  }
  const c10::StreamGuard guard(*stream_);
  loaded.batch = loaded.batch.to(*device_);
  loaded.copied = std::make_unique<c10::Event>(device_->type());
  loaded.copied->record(*stream_);
}

void DeviceCopy::finish(LoadedBatch& loaded) const {
  if (!loaded.copied) return;
  const c10::impl::VirtualGuardImpl implementation(device_->type());
  const c10::Stream current = implementation.getStream(*device_);
  loaded.copied->block(current);
  for (const auto& item : loaded.batch) {
    implementation.recordDataPtrOnStream(item.second.storage().data_ptr(), current);
  }
}

}  // namespace lope
