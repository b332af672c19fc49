#include "kernel_threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace lope {

// at::set_num_threads would also change what threads that start later get. OpenMP's own setting is one of the calling
// thread; LibTorch brings OpenMP along but doesn't hand it on to those who link LibTorch, so it is looked up.
void use_one_kernel_thread() {
  // Else the thread's first kernel would do it and set the number again; LibTorch has a flag of its own for that.
  at::internal::lazy_init_num_threads();
  at::get_num_threads();
  using SetNumThreads = void (*)(int);
  const auto set = reinterpret_cast<SetNumThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(1);
}

}  // namespace lope
