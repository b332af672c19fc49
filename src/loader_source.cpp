#include "loader_source.h"

#include <ATen/core/grad_mode.h>

#include "lope/error.h"

namespace lope {

PreparedBatch LoaderSource::prepare(const LoaderJob& job) {
  const at::NoGradGuard no_grad;
  try {
    PreparedBatch prepared = gather(job);
    if (prepared.batch && options.pin_memory) prepared.batch = prepared.batch->pin();
    return prepared;
  } catch (const std::exception& error) {
    return {.error = first_line(error.what())};
  }
}

}  // namespace lope
