#pragma once
// Threads that make micro-batches ahead, handed out in order.
//
//   WorkerPool pool({.workers = 2, .capacity = 4}, finish);
//   pool.begin(task);
//   while (auto loaded = pool.take()) use(*loaded);

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "loader_task.h"

namespace lope {

struct WorkerPoolOptions {
  int64_t workers = 1;
  /// Micro-batches made or being made that nobody has taken.
  int64_t capacity = 2;
  /// Seconds to wait for one; 0: as long as it takes.
  double timeout = 0;
};

class WorkerPool {
 public:
  /// Done in the worker to each micro-batch once it is made.
  using Finish = std::function<void(LoadedBatch&)>;

  WorkerPool(WorkerPoolOptions options, Finish finish);
  /// Waits for the example that each worker is at.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Goes over to `task`. What workers are at is given up and thrown away.
  void begin(std::shared_ptr<LoaderTask> task);
  /// The next micro-batch; nullopt behind the last. Throws what the task threw when it made this one, and tries again
  /// at the next call; throws Error when it takes longer than the timeout.
  std::optional<LoadedBatch> take();

 private:
  /// Where one micro-batch ends up.
  struct Slot {
    size_t worker = 0;
    bool ready = false;
    std::optional<LoadedBatch> loaded = std::nullopt;
    std::exception_ptr error = nullptr;
  };
  struct Worker {
    Workplace place;
    bool busy = false;
    std::jthread thread;
  };

  void work(size_t number);
  bool has_work() const;
  /// Makes the next micro-batch; the lock is open meanwhile.
  void make_one(size_t number, std::unique_lock<std::mutex>& lock);
  Slot make(LoaderTask& task, int64_t number, Workplace& place) const;
  void restart(int64_t from);
  void go_on();
  void wait(std::unique_lock<std::mutex>& lock);
  std::string late() const;

  WorkerPoolOptions options_;
  Finish finish_;

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ready_;
  std::shared_ptr<LoaderTask> task_;
  /// What was begun before the last restart is thrown away.
  int64_t generation_ = 0;
  /// The micro-batch that is taken next, and behind it those that are made or being made.
  int64_t taken_ = 0;
  std::deque<Slot> slots_;
  /// Nothing new is begun: the end was reached, or a micro-batch failed.
  bool paused_ = false;
  bool stopping_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace lope
