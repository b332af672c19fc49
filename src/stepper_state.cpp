// What a checkpoint keeps of a Stepper.

#include <fmt/format.h>

#include "lope/error.h"
#include "stepper_impl.h"

namespace lope {
namespace {

constexpr const char* kTotals = "totals";
constexpr const char* kScale = "scaler.scale";
constexpr const char* kGrowthTracker = "scaler.growth_tracker";

const at::Tensor& find(const TensorMap& state, const char* name, int64_t size, at::ScalarType type) {
  const auto found = state.find(name);
  if (found != state.end() && found->second.numel() == size && found->second.scalar_type() == type) {
    return found->second;
  }
  throw Error(fmt::format("stepper state: \"{}\" must be {} numbers of type {}: the state is not a stepper's", name,
                          size, c10::toString(type)));
}

}  // namespace

TensorMap Stepper::Impl::state() const {
  TensorMap state{{kTotals, totals_}};
  if (scaler_) {
    state.emplace(kScale, scaler_->scale());
    state.emplace(kGrowthTracker, scaler_->growth_tracker());
  }
  return state;
}

void Stepper::Impl::load_state(const TensorMap& state) {
  if (micro_batches_ > 0) throw Error("stepper: a window is open: call update or discard before load_state");
  const at::Tensor& totals = find(state, kTotals, totals_.numel(), at::kDouble);
  if (scaler_ && state.contains(kScale)) {
    scaler_->load_state(find(state, kScale, 1, at::kFloat), find(state, kGrowthTracker, 1, at::kInt));
  }
  totals_.copy_(totals.reshape(totals_.sizes()));
  const at::Tensor host = totals.cpu().contiguous();
  const auto& read = *reinterpret_cast<const window::Totals*>(host.const_data_ptr<double>());
  applied_at_least_ = static_cast<int64_t>(read.applied);
  attempted_ = applied_at_least_ + static_cast<int64_t>(read.skipped);
  rates_.invalidate();
}

}  // namespace lope
