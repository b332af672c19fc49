#include "worker_pool.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "lope/error.h"

namespace lope {
namespace {

/// Workers share the cores as they are: none of them starts a team of threads of its own. at::set_num_threads would
/// change the number for the whole process.
void use_one_openmp_thread() {
  at::internal::lazy_init_num_threads();
  using SetThreads = void (*)(int);
  if (const auto set = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(1);
}

}  // namespace

WorkerPool::WorkerPool(LoaderSource& source, int64_t workers) : source_(source) {
  for (int64_t i = 0; i < workers; ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { work(i, stop); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
  }
  for (auto& thread : threads_) thread.request_stop();
}

void WorkerPool::submit(LoaderJob job) {
  auto slot = std::make_shared<Slot>(Slot{.job = std::move(job)});
  {
    const std::lock_guard lock(mutex_);
    slots_.push_back(slot);
    waiting_.push_back(std::move(slot));
  }
  wanted_.notify_one();
}

bool WorkerPool::ready() const {
  const std::lock_guard lock(mutex_);
  return !slots_.empty() && slots_.front()->done && slots_.front()->result.batch;
}

bool WorkerPool::idle() const {
  const std::lock_guard lock(mutex_);
  return running_ == 0;
}

PreparedBatch WorkerPool::take(double timeout) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Slot> slot = slots_.front();
  const auto done = [&] { return slot->done; };
  if (timeout <= 0.0) {
    finished_.wait(lock, done);
  } else if (!finished_.wait_for(lock, std::chrono::duration<double>(timeout), done)) {
    fail_late(*slot, timeout);
  }
  slots_.pop_front();
  return std::move(slot->result);
}

void WorkerPool::fail_late(const Slot& slot, double timeout) const {
  const LoaderJob& job = slot.job;
  const std::string who = slot.worker < 0 ? "no worker is free for" : fmt::format("worker {} is still at", slot.worker);
  throw Error(
      fmt::format("loader: {} examples {} to {} of epoch {} after {} s: raise the timeout, or look at what the "
                  "data set does there",
                  who, job.first, job.first + job.count - 1, job.epoch, timeout));
}

void WorkerPool::clear() {
  std::unique_lock lock(mutex_);
  waiting_.clear();
  slots_.clear();
  if (!source_.concurrent()) finished_.wait(lock, [this] { return running_ == 0; });
  halted_ = false;
}

void WorkerPool::work(int64_t worker, const std::stop_token& stop) {
  use_one_openmp_thread();
  std::unique_lock lock(mutex_);
  while (wanted_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    const std::shared_ptr<Slot> slot = std::move(waiting_.front());
    waiting_.pop_front();
    slot->worker = worker;
    run(lock, slot);
    finished_.notify_all();
  }
}

void WorkerPool::run(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Slot>& slot) {
  if (!halted_) {
    ++running_;
    lock.unlock();
    PreparedBatch result = source_.prepare(slot->job);
    lock.lock();
    --running_;
    halted_ = !source_.concurrent() && !result.batch;
    slot->result = std::move(result);
  }
  slot->done = true;
}

}  // namespace lope
