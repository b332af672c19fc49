#pragma once
// How far a run has come, in integers only.
//
//   progress.step;      // updates so far, applied or skipped: what Hugging Face calls global_step

#include <cstdint>

namespace lope {

/// Written by the Trainer alone.
struct Progress {
  int64_t epoch = 0;       ///< epochs finished
  int64_t step = 0;        ///< windows stepped in this training, skipped ones included
  int64_t micro_step = 0;  ///< micro-batches done in the current epoch
  int64_t samples = 0;     ///< examples seen
  int64_t tokens = 0;      ///< tokens seen (elements of "input_ids"; else examples)
  int64_t skipped = 0;     ///< updates that were not applied, known as of the last log

  bool operator==(const Progress&) const = default;
};

}  // namespace lope
