#include "optimizer_state.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lope/error.h"

namespace lope {
namespace {

void advance(const std::vector<at::Tensor>& steps, const at::Tensor& all, const at::Tensor& skip) {
  if (steps.front().is_cpu()) {
    const float by = skip.defined() ? 1.0F - *skip.const_data_ptr<float>() : 1.0F;
    for (const auto& step : steps) *step.mutable_data_ptr<float>() += by;
    return;
  }
  const at::NoGradGuard no_grad;
  const bool everyone = static_cast<int64_t>(steps.size()) == all.numel();
  const at::Tensor one = skip.defined() ? 1.0 - skip.reshape({}) : at::ones({}, all.options());
  everyone ? static_cast<void>(at::Tensor(all).add_(one)) : at::_foreach_add_(steps, one);
}

at::Tensor laid_out_like(const at::Tensor& parameter, const at::Tensor& gradient) {
  if (gradient.strides() == parameter.strides() && gradient.scalar_type() == parameter.scalar_type()) return gradient;
  at::Tensor same = at::empty_strided(parameter.sizes(), parameter.strides(), parameter.options());
  return same.copy_(gradient);
}

const at::Tensor& find(const TensorMap& state, const std::string& key, const at::Tensor& like) {
  const auto found = state.find(key);
  if (found == state.end()) {
    throw Error(
        fmt::format("optimizer state: \"{}\" is missing: the state belongs to another optimizer or model", key));
  }
  const at::Tensor& tensor = found->second;
  if (tensor.sizes() != like.sizes() || tensor.scalar_type() != like.scalar_type()) {
    throw Error(fmt::format(
        "optimizer state: \"{}\" is {} ({}), expected {} ({}): the state belongs to another optimizer or model", key,
        c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "), c10::toString(like.scalar_type()),
        fmt::join(like.sizes(), ", ")));
  }
  return tensor;
}

}  // namespace

OptimizerState::OptimizerState(const std::vector<ParameterGroup>& groups, std::vector<std::string> slots,
                               double initial_value)
    : slot_names_(std::move(slots)), initial_value_(initial_value) {
  for (const auto& group : groups) {
    GroupState state;
    for (const auto& parameter : group.parameters) {
      state.parameters.push_back(parameter.tensor);
      state.names.push_back(parameter.name);
    }
    const auto count = static_cast<int64_t>(state.parameters.size());
    state.steps = at::zeros({count}, at::TensorOptions(state.parameters.front().device()).dtype(at::kFloat));
    state.step_views = state.steps.unbind(0);
    for (size_t slot = 0; slot < slot_names_.size(); ++slot) {
      auto& tensors = state.slots.emplace_back();
      for (const auto& parameter : state.parameters)
        tensors.push_back(at::full_like(parameter.detach(), initial_value_));
    }
    groups_.push_back(std::move(state));
  }
}

kernels::Lists OptimizerState::with_gradients(const GroupState& group) {
  kernels::Lists lists;
  lists.slots.resize(group.slots.size());
  lists.parameters.reserve(group.parameters.size());
  lists.gradients.reserve(group.parameters.size());
  lists.steps.reserve(group.parameters.size());
  for (auto& slot : lists.slots) slot.reserve(group.parameters.size());
  for (size_t i = 0; i < group.parameters.size(); ++i) {
    const at::Tensor& gradient = group.parameters[i].grad();
    if (!gradient.defined()) continue;
    lists.parameters.push_back(group.parameters[i]);
    lists.gradients.push_back(laid_out_like(group.parameters[i], gradient));
    lists.steps.push_back(group.step_views[i]);
    for (size_t slot = 0; slot < group.slots.size(); ++slot) lists.slots[slot].push_back(group.slots[slot][i]);
  }
  return lists;
}

kernels::Lists OptimizerState::collect(size_t group, const at::Tensor& skip) {
  kernels::Lists lists = with_gradients(groups_[group]);
  if (!lists.steps.empty()) advance(lists.steps, groups_[group].steps, skip);
  return lists;
}

void OptimizerState::reset() {
  for (auto& group : groups_) {
    group.steps.zero_();
    for (auto& slot : group.slots) {
      for (auto& tensor : slot) tensor.fill_(initial_value_);
    }
  }
}

TensorMap OptimizerState::state() const {
  TensorMap state;
  for (const auto& group : groups_) {
    for (size_t i = 0; i < group.names.size(); ++i) {
      state.emplace(group.names[i] + ".step", group.step_views[i]);
      for (size_t slot = 0; slot < slot_names_.size(); ++slot) {
        state.emplace(group.names[i] + "." + slot_names_[slot], group.slots[slot][i]);
      }
    }
  }
  return state;
}

void OptimizerState::load_state(const TensorMap& state) {
  const TensorMap own = this->state();
  for (const auto& [key, tensor] : own) find(state, key, tensor);
  if (state.size() != own.size()) {
    for (const auto& item : state) {
      if (own.contains(item.first)) continue;
      throw Error(fmt::format("optimizer state: \"{}\" is unknown: the state belongs to another optimizer or model",
                              item.first));
    }
  }
  for (const auto& [key, tensor] : own) at::Tensor(tensor).copy_(state.at(key));
}

}  // namespace lope
