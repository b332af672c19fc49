#pragma once
// Copies micro-batches to an accelerator on a stream of their own, beside what the current stream computes.
//
//   DeviceCopy copy(device);
//   copy.start(loaded);      // in any thread: asks for the copy
//   copy.finish(loaded);     // in the consumer's: its current stream waits for it

#include <c10/core/Stream.h>

#include <optional>

#include "loader_task.h"

namespace lope {

class DeviceCopy {
 public:
  /// nullopt leaves micro-batches where they are.
  explicit DeviceCopy(std::optional<at::Device> device);

  /// Moves the batch to the device. On an accelerator the copy may be under way when it returns; page-locked memory
  /// that it reads is not given to anybody else before it is done (LibTorch's host allocator sees to that).
  void start(LoadedBatch& loaded) const;
  /// Lets the caller's current stream wait for the copy, and keeps the batch's memory for that stream's use.
  void finish(LoadedBatch& loaded) const;

 private:
  std::optional<at::Device> device_;
  /// None on the CPU.
  std::optional<c10::Stream> stream_;
};

}  // namespace lope
