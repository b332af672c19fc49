#include "lope/optimizer.h"

#include <fmt/format.h>

#include <unordered_set>

#include "lope/error.h"

namespace lope {
namespace {

void check_parameter(const Parameter& parameter, const Parameter& first) {
  const at::Tensor& tensor = parameter.tensor;
  if (!tensor.is_floating_point() || !tensor.is_non_overlapping_and_dense()) {
    throw Error(fmt::format("optimizer: \"{}\" is not a dense floating-point tensor: only those can be trained",
                            parameter.name));
  }
  if (tensor.device() != first.tensor.device() || tensor.scalar_type() != first.tensor.scalar_type()) {
    throw Error(fmt::format(
        "optimizer: \"{}\" is {} on {} but \"{}\" is {} on {}: give each device and type a group of its own",
        parameter.name, c10::toString(tensor.scalar_type()), tensor.device().str(), first.name,
        c10::toString(first.tensor.scalar_type()), first.tensor.device().str()));
  }
}

}  // namespace

std::vector<ParameterGroup> parameter_groups(const Model& model, double weight_decay) {
  ParameterGroup decayed{.parameters = {}, .weight_decay = weight_decay};
  ParameterGroup spared;
  for (const auto& parameter : model.parameters()) {
    (parameter.decay ? decayed : spared).parameters.push_back(parameter);
  }
  std::vector<ParameterGroup> groups;
  if (!decayed.parameters.empty()) groups.push_back(std::move(decayed));
  if (!spared.parameters.empty()) groups.push_back(std::move(spared));
  return groups;
}

Optimizer::Optimizer(std::vector<ParameterGroup> groups) : groups_(std::move(groups)) {
  std::erase_if(groups_, [](const ParameterGroup& group) { return group.parameters.empty(); });
  std::unordered_set<const void*> seen;
  for (const auto& group : groups_) {
    for (const auto& parameter : group.parameters) {
      check_parameter(parameter, group.parameters.front());
      if (!seen.insert(parameter.tensor.unsafeGetTensorImpl()).second) {
        throw Error(
            fmt::format("optimizer: \"{}\" is given twice: each parameter belongs to one group, once", parameter.name));
      }
    }
  }
  if (seen.empty()) throw Error("optimizer: there is no parameter: give at least one");
}

}  // namespace lope
