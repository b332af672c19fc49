#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <fmt/format.h>
#include <lope/callbacks/ema.h>
#include <lope/error.h>

#include <utility>

#include "../json_fields.h"
#include "../python_json.h"

namespace lope {

Ema::Ema(Model model, double decay) : model_(std::move(model)), decay_(decay) {
  if (!(decay >= 0.0 && decay < 1.0)) {
    throw Error(fmt::format("the decay of Ema is {}: it must be from 0 to below 1", decay));
  }
  begin();
}

void Ema::begin() {
  updates_ = 0;
  weights_.clear();
  averages_.clear();
  for (const Parameter& parameter : model_.parameters()) {
    weights_.push_back(parameter.tensor);
    averages_.push_back(parameter.tensor.detach().clone());
  }
}

void Ema::update() {
  const at::NoGradGuard no_grad;
  at::_foreach_lerp_(averages_, weights_, 1.0 - decay_);
  ++updates_;
}

void Ema::swap() {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> own;
  own.reserve(weights_.size());
  for (const at::Tensor& weight : weights_) own.push_back(weight.detach().clone());
  at::_foreach_copy_(weights_, averages_);
  averages_ = std::move(own);
}

TensorMap Ema::averages() const {
  TensorMap all;
  for (size_t i = 0; i < averages_.size(); ++i) all.emplace(model_.parameters()[i].name, averages_[i]);
  return all;
}

void Ema::on_train_begin(const TrainingContext& context, Control&) {
  if (context.progress.step == 0) begin();
}

void Ema::on_step_end(const TrainingContext&, const StepReport&, Control&) { update(); }

std::string Ema::state() const { return to_python_json({{"updates", updates_}}); }

void Ema::load_state(const std::string& text) {
  const Json json = parse_python_json(text);
  need_field(json, "updates", "state of Ema");
  read_field(json, "updates", updates_);
}

void Ema::load_tensors(const TensorMap& tensors) {
  const at::NoGradGuard no_grad;
  const TensorMap own = averages();
  for (const auto& [name, average] : own) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.sizes() != average.sizes()) {
      throw Error(fmt::format("the state of Ema has no average of \"{}\" in its shape: it is another model's", name));
    }
  }
  for (const auto& [name, average] : own) at::Tensor(average).copy_(tensors.at(name));
}

}  // namespace lope
