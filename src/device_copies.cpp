#include "device_copies.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace lope {

class DeviceCopies::Impl {
 public:
  explicit Impl(at::Device device)
      : device_(device), guard_(device.type()), stream_(guard_.getStreamFromGlobalPool(device)), done_(device.type()) {}

  Batch start(const Batch& batch) {
    const c10::StreamGuard on_side(stream_);
    // LibTorch keeps a pinned block that is copied from until its copy is through.
    Batch copy = batch.to(device_);
    done_.record(stream_);
    return copy;
  }

  void finish(const Batch& batch) {
    const c10::Stream present = guard_.getStream(device_);
    done_.block(present);
    for (const auto& [name, tensor] : batch) tensor.record_stream(present);
  }

 private:
  at::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  c10::Stream stream_;
  c10::Event done_;
};

// A host has no streams: there is nothing to do.
DeviceCopies::DeviceCopies(at::Device device) : impl_(device.is_cpu() ? nullptr : std::make_unique<Impl>(device)) {}

DeviceCopies::~DeviceCopies() = default;

Batch DeviceCopies::start(const Batch& batch) { return impl_ ? impl_->start(batch) : batch; }

void DeviceCopies::finish(const Batch& batch) {
  if (impl_) impl_->finish(batch);
}

}  // namespace lope
