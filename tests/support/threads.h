#pragma once
// Runs a piece of work with a given number of threads for its kernels.
//
//   const at::Tensor norm = with_threads(2, [&] { return grad_norm(gradients); });

#include <ATen/Parallel.h>

namespace lope::testing {

template <typename Work>
auto with_threads(int threads, const Work& work) {
  struct Restore {
    int before = at::get_num_threads();
    ~Restore() { at::set_num_threads(before); }
  } restore;
  at::set_num_threads(threads);
  return work();
}

}  // namespace lope::testing
