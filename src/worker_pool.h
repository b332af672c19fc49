#pragma once
// Threads that prepare micro-batches ahead, handed out in the order in which they were planned.
//
//   WorkerPool pool(source, 4);
//   pool.submit(job); pool.submit(next_job);
//   PreparedBatch batch = pool.take(timeout);

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loader_source.h"

namespace lope {

/// One caller; the source outlives the pool.
class WorkerPool {
 public:
  WorkerPool(LoaderSource& source, int64_t workers);
  /// Waits for the examples that are being prepared.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void submit(LoaderJob job);
  /// Jobs submitted and not taken.
  int64_t in_flight() const { return static_cast<int64_t>(slots_.size()); }
  /// Whether `take` would give a micro-batch at once: neither wait, nor end, nor tell of an error.
  bool ready() const;
  /// Whether no worker is at a job.
  bool idle() const;
  /// The result of the oldest job. Throws Error naming the worker after `timeout` seconds (0: never); then the job is
  /// still there.
  PreparedBatch take(double timeout);
  /// Forgets all jobs. Waits for those that run where the source can only run one at a time.
  void clear();

 private:
  struct Slot {
    LoaderJob job = {};
    PreparedBatch result = {};
    int64_t worker = -1;
    bool done = false;
  };

  void work(int64_t worker, const std::stop_token& stop);
  void run(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Slot>& slot);
  [[noreturn]] void fail_late(const Slot& slot, double timeout) const;

  LoaderSource& source_;
  mutable std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::condition_variable finished_;
  std::deque<std::shared_ptr<Slot>> slots_;
  std::deque<std::shared_ptr<Slot>> waiting_;
  int64_t running_ = 0;
  /// A source that goes one job after the other stops at its end and at an error, until the jobs are cleared.
  bool halted_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace lope
