#pragma once
// The schedule warmup_stable_decay: up, level, down.

#include "argument_reader.h"
#include "lope/schedule.h"

namespace lope {

/// Reads num_decay_steps (needed), num_stable_steps, warmup_type, decay_type, min_lr_ratio and num_cycles.
RateFactor warmup_stable_decay(const ScheduleInputs& inputs, ArgumentReader& reader);

}  // namespace lope
