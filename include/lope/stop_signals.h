#pragma once
// SIGTERM and SIGINT as a request to stop: the running window ends, a checkpoint is saved, train() returns.
//
//   lope::StopSignals signals;
//   lope::Trainer trainer(arguments, model, loss, {.train_dataset = &data, .stop_token = signals.token()});
//   trainer.train();
//   return signals.exit_code();          // 0, or 128 + the signal's number, as shells expect

#include <memory>
#include <stop_token>

namespace lope {

/// Catches both signals while it lives, where the program has no handler of its own for them and does not ignore them.
/// A second SIGINT ends the process at once. At most one at a time: a second one catches nothing.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const;
  /// The number of the first signal that came, or 0.
  int signal() const;
  /// 128 + `signal()`, or 0 when none came.
  int exit_code() const { return signal() == 0 ? 0 : 128 + signal(); }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lope
