#pragma once
// Copies micro-batches to a device on a stream of its own, one ahead of the one that is used.

#include <c10/core/Device.h>

#include <memory>

#include "lope/batch.h"

namespace lope {

class DeviceCopies {
 public:
  explicit DeviceCopies(at::Device device);
  ~DeviceCopies();

  /// Starts a copy; from pinned memory it runs beside what the device computes.
  Batch start(const Batch& batch);
  /// Makes the present stream wait for the copies started so far, and keeps the memory of `batch` until it is through.
  void finish(const Batch& batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lope
