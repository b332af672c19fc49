#pragma once
// Every optimizer of the library, with settings that use all of its state, for tests that hold for each.
//
//   for (const auto& kind : optimizer_kinds()) {
//     const auto optimizer = kind.make(parameter_groups(model, 0.1));

#include <lope/optimizers.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lope::testing {

struct OptimizerKind {
  std::string name;
  std::function<std::unique_ptr<Optimizer>(std::vector<ParameterGroup>)> make;
};

inline std::vector<OptimizerKind> optimizer_kinds() {
  using Groups = std::vector<ParameterGroup>;
  return {
      {"AdamW", [](Groups groups) { return std::make_unique<AdamW>(std::move(groups)); }},
      {"Adam", [](Groups groups) { return std::make_unique<Adam>(std::move(groups)); }},
      {"SGD", [](Groups groups) { return std::make_unique<SGD>(std::move(groups)); }},
      {"SGD with momentum",
       [](Groups groups) { return std::make_unique<SGD>(std::move(groups), SGDOptions{.momentum = 0.9}); }},
      {"Adagrad", [](Groups groups) { return std::make_unique<Adagrad>(std::move(groups)); }},
      {"RMSprop", [](Groups groups) { return std::make_unique<RMSprop>(std::move(groups)); }},
      {"centred RMSprop with momentum",
       [](Groups groups) {
         return std::make_unique<RMSprop>(std::move(groups), RMSpropOptions{.momentum = 0.9, .centered = true});
       }},
  };
}

}  // namespace lope::testing
