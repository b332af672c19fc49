#pragma once
// Counts the operations that read a tensor's value on the host, on all threads, while it lives.
//
//   HostReads reads;
//   stepper.update();
//   EXPECT_EQ(reads.count(), 0) << reads.names();

#include <ATen/record_function.h>

#include <string>

namespace lope::testing {

/// One at a time.
class HostReads {
 public:
  HostReads();
  ~HostReads();
  HostReads(const HostReads&) = delete;
  HostReads& operator=(const HostReads&) = delete;

  /// Reads since the beginning; one that is made of another counts once.
  int count() const;
  /// What was called, for a failing test's message.
  std::string names() const;

 private:
  at::CallbackHandle handle_;
};

}  // namespace lope::testing
