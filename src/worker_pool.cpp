#include "worker_pool.h"

#include <ATen/core/grad_mode.h>

#include <chrono>
#include <utility>

#include "kernel_threads.h"

namespace lope {

WorkerPool::WorkerPool(WorkerPoolOptions options, Finish finish) : options_(options), finish_(std::move(finish)) {
  for (int64_t i = 0; i < options_.workers; ++i) workers_.push_back(std::make_unique<Worker>());
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->thread = std::jthread([this, i] { work(i); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& worker : workers_) worker->place.cancelled = true;
  }
  work_.notify_all();
  for (const auto& worker : workers_) worker->thread.join();
}

void WorkerPool::begin(std::shared_ptr<LoaderTask> task) {
  std::deque<Slot> old;
  const std::lock_guard lock(mutex_);
  old.swap(slots_);
  task_.swap(task);
  restart(0);
  go_on();
}

void WorkerPool::restart(int64_t from) {
  ++generation_;
  taken_ = from;
  slots_.clear();
  for (const auto& worker : workers_) worker->place.cancelled = true;
}

void WorkerPool::go_on() {
  paused_ = false;
  work_.notify_all();
}

std::optional<LoadedBatch> WorkerPool::take() {
  std::unique_lock lock(mutex_);
  if (slots_.empty()) go_on();
  wait(lock);
  if (slots_.front().error) {
    const std::exception_ptr error = std::move(slots_.front().error);
    restart(taken_);
    paused_ = true;
    std::rethrow_exception(error);
  }
  if (!slots_.front().loaded) return std::nullopt;
  auto loaded = std::move(slots_.front().loaded);
  slots_.pop_front();
  ++taken_;
  work_.notify_one();
  return loaded;
}

void WorkerPool::wait(std::unique_lock<std::mutex>& lock) {
  const auto is_ready = [this] { return !slots_.empty() && slots_.front().ready; };
  if (options_.timeout == 0) return ready_.wait(lock, is_ready);
  if (!ready_.wait_for(lock, std::chrono::duration<double>(options_.timeout), is_ready)) throw Error(late());
}

std::string WorkerPool::late() const {
  size_t worker = 0;
  while (worker + 1 < workers_.size() && !workers_[worker]->busy) ++worker;
  if (!slots_.empty()) worker = slots_.front().worker;
  return fmt::format(
      "loader: worker {} is at example {} and gave no micro-batch for {} s: look at what keeps this example, or raise "
      "timeout",
      worker, workers_[worker]->place.example.load(), options_.timeout);
}

void WorkerPool::work(size_t number) {
  const at::NoGradGuard no_grad;
  use_one_kernel_thread();
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || has_work(); });
    if (stopping_) return;
    make_one(number, lock);
  }
}

bool WorkerPool::has_work() const {
  return task_ != nullptr && !paused_ && static_cast<int64_t>(slots_.size()) < options_.capacity;
}

void WorkerPool::make_one(size_t number, std::unique_lock<std::mutex>& lock) {
  Worker& self = *workers_[number];
  const int64_t generation = generation_;
  const int64_t batch = taken_ + static_cast<int64_t>(slots_.size());
  slots_.push_back({.worker = number});
  self.busy = true;
  self.place.cancelled = false;
  auto task = task_;
  lock.unlock();
  Slot made = make(*task, batch, self.place);
  task.reset();
  made.worker = number;
  made.ready = true;
  lock.lock();
  self.busy = false;
  if (generation != generation_) return;
  if (!made.loaded) paused_ = true;
  slots_[static_cast<size_t>(batch - taken_)] = std::move(made);
  ready_.notify_one();
}

WorkerPool::Slot WorkerPool::make(LoaderTask& task, int64_t number, Workplace& place) const {
  Slot slot;
  try {
    slot.loaded = task.make(number, place);
    if (slot.loaded) finish_(*slot.loaded);
  } catch (...) {
    slot.error = std::current_exception();
  }
  return slot;
}

}  // namespace lope
