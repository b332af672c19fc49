#pragma once
// Where the state of a SlotOptimizer lives: per group, lists that the kernels take as they are.

#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "lope/optimizers.h"

namespace lope {

/// What `apply` gets: the lists of one group and the update with the group's learning rate.
struct SlotOptimizer::GroupUpdate {
  kernels::Lists lists;
  Update update;
  double weight_decay;
};

/// Allocates slots and step counts, collects what has a gradient, saves and loads by name.
class OptimizerState {
 public:
  OptimizerState(const std::vector<ParameterGroup>& groups, std::vector<std::string> slots, double initial_value);

  /// The parameters of a group that have a gradient, with their state; their step counts advance unless `skip` is 1.
  kernels::Lists collect(size_t group, const at::Tensor& skip);
  void reset();
  TensorMap state() const;
  void load_state(const TensorMap& state);

 private:
  struct GroupState {
    std::vector<at::Tensor> parameters;
    std::vector<std::string> names;
    /// float32 {parameters}, and one view of it for each parameter.
    at::Tensor steps;
    std::vector<at::Tensor> step_views;
    std::vector<std::vector<at::Tensor>> slots;
  };

  static kernels::Lists with_gradients(const GroupState& group);

  std::vector<std::string> slot_names_;
  double initial_value_;
  std::vector<GroupState> groups_;
};

}  // namespace lope
