#include "lope/stop_signals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "lope/error.h"

namespace lope {
namespace {

// What the handler may touch: lock-free, and the same for all threads.
std::atomic<int> first_signal{0};
std::atomic<int> wake_up{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void lope_on_stop_signal(int number) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    const int saved = errno;
    const char byte = 's';
    // A full pipe means that the thread has been woken already.
    [[maybe_unused]] const ssize_t written = ::write(wake_up, &byte, 1);
    errno = saved;
  } else if (number == SIGINT) {
    ::_exit(128 + SIGINT);
  }
}

bool has_default_action(int number) {
  struct sigaction present{};
  return ::sigaction(number, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
         present.sa_handler == SIG_DFL;
}

}  // namespace

class StopSignals::Impl {
 public:
  Impl() {
    if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) {
      throw Error(fmt::format("cannot catch signals: {}; raise the limit of open files", std::strerror(errno)));
    }
    int none = -1;
    if (!wake_up.compare_exchange_strong(none, pipe_[1])) return;
    first_signal = 0;
    for (const int number : {SIGTERM, SIGINT}) install(number);
    waiter_ = std::jthread([this] { wait(); });
  }

  ~Impl() {
    for (const auto& [number, before] : replaced_) ::sigaction(number, &before, nullptr);
    if (waiter_.joinable()) {
      const char byte = 'q';
      [[maybe_unused]] const ssize_t written = ::write(pipe_[1], &byte, 1);
      waiter_.join();
      wake_up = -1;
    }
    for (const int end : pipe_) ::close(end);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  int signal() const { return waiter_.joinable() ? first_signal.load() : 0; }

 private:
  void install(int number) {
    if (!has_default_action(number)) return;
    struct sigaction action{};
    action.sa_handler = lope_on_stop_signal;
    action.sa_flags = SA_RESTART;
    struct sigaction before{};
    ::sigemptyset(&action.sa_mask);
    if (::sigaction(number, &action, &before) == 0) replaced_.emplace_back(number, before);
  }

  /// A handler must not call request_stop, which takes locks: it wakes this thread.
  void wait() {
    char byte = 0;
    while (::read(pipe_[0], &byte, 1) == 1 && byte == 's') source_.request_stop();
  }

  std::array<int, 2> pipe_{};
  std::vector<std::pair<int, struct sigaction>> replaced_;
  std::stop_source source_;
  std::jthread waiter_;
};

StopSignals::StopSignals() : impl_(std::make_unique<Impl>()) {}

StopSignals::~StopSignals() = default;

std::stop_token StopSignals::token() const { return impl_->token(); }

int StopSignals::signal() const { return impl_->signal(); }

}  // namespace lope
