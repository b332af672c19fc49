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
  /// False: the operations of torch.optim one by one, which in fp16 divide 0 by 0 as they do in Python.
  bool fused = true;
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
      {"AdamW, not fused",
       [](Groups groups) { return std::make_unique<AdamW>(std::move(groups), AdamOptions{.fused = false}); }, false},
      {"Adam, not fused",
       [](Groups groups) { return std::make_unique<Adam>(std::move(groups), AdamOptions{.fused = false}); }, false},
      {"Adagrad, not fused",
       [](Groups groups) { return std::make_unique<Adagrad>(std::move(groups), AdagradOptions{.fused = false}); },
       false},
      {"RMSprop, not fused",
       [](Groups groups) {
         return std::make_unique<RMSprop>(std::move(groups),
                                          RMSpropOptions{.momentum = 0.9, .centered = true, .fused = false});
       },
       false},
  };
}

}  // namespace lope::testing
