#pragma once
// Micro-batches of a data set with random access: any thread can make any of them.

#include "loader_task.h"
#include "sampler.h"

namespace lope {

class TableSource : public LoaderSource {
 public:
  /// Both outlive the source and its tasks.
  TableSource(const Dataset& dataset, const LoaderOptions& options);

  std::shared_ptr<LoaderTask> begin(LoaderPosition from) override;
  std::optional<int64_t> examples_per_epoch() const override { return sampler_.size(); }
  bool is_sequential() const override { return false; }

 private:
  class Task;

  const Dataset& dataset_;
  const LoaderOptions& options_;
  Sampler sampler_;
};

}  // namespace lope
