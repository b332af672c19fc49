#include "lope/stepper.h"

#include "lope/error.h"
#include "stepper_impl.h"

namespace lope {

Stepper::Stepper(Model& model, Optimizer& optimizer, LossFunction loss, RateFunction learning_rate,
                 StepperOptions options)
    : impl_(std::make_unique<Impl>(model, optimizer, std::move(loss), std::move(learning_rate), options)) {}

Stepper::~Stepper() = default;
Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;

StepReport Stepper::step(std::span<const Batch> micro_batches) {
  if (micro_batches.empty()) throw Error("stepper: the window is empty: give at least one micro-batch");
  for (const auto& micro_batch : micro_batches) impl_->accumulate(micro_batch);
  return impl_->update();
}

void Stepper::accumulate(const Batch& micro_batch) { impl_->accumulate(micro_batch); }

StepReport Stepper::update() { return impl_->update(); }

void Stepper::discard() { impl_->discard(); }

void Stepper::expect_items(int64_t items) { impl_->expect_items(items); }

int64_t Stepper::window_size() const { return impl_->micro_batches(); }

StepTotals Stepper::take_totals() { return impl_->take_totals(); }

void Stepper::set_learning_rate(RateFunction learning_rate) { impl_->set_learning_rate(std::move(learning_rate)); }

GradScaler* Stepper::scaler() { return impl_->scaler(); }

TensorMap Stepper::state() const { return impl_->state(); }

void Stepper::load_state(const TensorMap& state) { impl_->load_state(state); }

}  // namespace lope
