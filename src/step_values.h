#pragma once
// From the numbers of a window as they lie in memory to those of the public interface.

#include "lope/step_report.h"
#include "window_math.h"

namespace lope {

StepValues to_step_values(const window::Values& values);

}  // namespace lope
