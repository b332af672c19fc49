#include "lope/step_report.h"

#include <ATen/core/TensorBody.h>

#include "lope/error.h"
#include "step_values.h"

namespace lope {

StepValues to_step_values(const window::Values& values) {
  return {.loss = values.loss,
          .grad_norm = values.grad_norm,
          .learning_rate = values.learning_rate,
          .skipped = values.skipped != 0.0,
          .nonfinite = values.nonfinite != 0.0,
          .items = values.items};
}

StepValues StepReport::read() const {
  if (!values_.defined()) throw Error("step report: it is empty: take it from Stepper::update or Stepper::step");
  const at::Tensor host = values_.cpu();
  return to_step_values(*reinterpret_cast<const window::Values*>(host.const_data_ptr<double>()));
}

}  // namespace lope
