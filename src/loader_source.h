#pragma once
// What a loader's micro-batches are made from: a table or a stream. Planning happens in the caller's thread, preparing
// in whichever thread runs the job.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lope/loader.h"

namespace lope {

/// One micro-batch to prepare.
struct LoaderJob {
  int64_t epoch = 0;
  /// First example, counted in the order of the epoch, and how many. Of a stream: at most how many.
  int64_t first = 0;
  int64_t count = 0;
  /// int64: the order of the epoch; undefined for a stream.
  at::Tensor order = {};
};

/// What has come of a job.
struct PreparedBatch {
  /// nullopt at the end of the epoch, and after an error.
  std::optional<Batch> batch = std::nullopt;
  int64_t examples = 0;
  std::string error = {};
};

class LoaderSource {
 public:
  explicit LoaderSource(LoaderOptions loader_options) : options(std::move(loader_options)) {}
  virtual ~LoaderSource() = default;
  LoaderSource(const LoaderSource&) = delete;
  LoaderSource& operator=(const LoaderSource&) = delete;

  /// Plans from here on. No job is running.
  virtual void plan_from(LoaderPosition position) = 0;
  /// Where planning goes on when the job after `position` has failed and none behind it counts.
  virtual void plan_again_from(LoaderPosition position) = 0;
  /// The next micro-batch of the epoch, or nullopt when all are planned.
  virtual std::optional<LoaderJob> next_job() = 0;
  /// Never throws. From several threads at once where `concurrent`, else one after the other in the order of planning.
  PreparedBatch prepare(const LoaderJob& job);
  virtual bool concurrent() const = 0;
  virtual std::optional<int64_t> examples_per_epoch() const = 0;
  /// Throws Error when there is no such place.
  virtual void check(LoaderPosition position) const = 0;

  LoaderOptions options;

 private:
  /// Throws what goes wrong, in one line.
  virtual PreparedBatch gather(const LoaderJob& job) = 0;
};

std::unique_ptr<LoaderSource> make_source(const Dataset& dataset, LoaderOptions options);
std::unique_ptr<LoaderSource> make_source(const IterableDataset& dataset, LoaderOptions options);

}  // namespace lope
