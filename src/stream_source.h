#pragma once
// Micro-batches of a stream: one thread reads it from the beginning.

#include "loader_task.h"

namespace lope {

class StreamSource : public LoaderSource {
 public:
  /// Throws Error for options that a stream can't follow. Both outlive the source and its tasks.
  StreamSource(const IterableDataset& dataset, const LoaderOptions& options);

  std::shared_ptr<LoaderTask> begin(LoaderPosition from) override;
  std::optional<int64_t> examples_per_epoch() const override { return std::nullopt; }
  bool is_sequential() const override { return true; }

 private:
  class Task;

  const IterableDataset& dataset_;
  const LoaderOptions& options_;
};

}  // namespace lope
