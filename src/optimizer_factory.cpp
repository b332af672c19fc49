#include "lope/optimizer_factory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "argument_reader.h"
#include "lope/argument_map.h"
#include "lope/error.h"
#include "lope/optimizers.h"
#include "nearest_name.h"

namespace lope {
namespace {

using Groups = std::vector<ParameterGroup>;
using Made = std::unique_ptr<Optimizer>;

AdamOptions adam_options(const TrainingArguments& arguments) {
  return {.betas = {arguments.adam_beta1, arguments.adam_beta2},
          .eps = arguments.adam_epsilon,
          .fused = arguments.optim != "adamw_torch"};
}

Made adamw(const TrainingArguments& arguments, Groups groups, ArgumentReader& reader) {
  reader.finish();
  return std::make_unique<AdamW>(std::move(groups), adam_options(arguments));
}

Made adam(const TrainingArguments& arguments, Groups groups, ArgumentReader& reader) {
  reader.finish();
  return std::make_unique<Adam>(std::move(groups), adam_options(arguments));
}

Made sgd(const TrainingArguments& /*arguments*/, Groups groups, ArgumentReader& reader) {
  const SGDOptions options{.momentum = reader.number("momentum", 0.0, at_least(0)),
                           .dampening = reader.number("dampening", 0.0, {}),
                           .nesterov = reader.truth("nesterov", false)};
  reader.finish();
  return std::make_unique<SGD>(std::move(groups), options);
}

Made adagrad(const TrainingArguments& /*arguments*/, Groups groups, ArgumentReader& reader) {
  const AdagradOptions options{
      .lr_decay = reader.number("lr_decay", 0.0, at_least(0)),
      .initial_accumulator_value = reader.number("initial_accumulator_value", 0.0, at_least(0)),
      .eps = reader.number("eps", 1e-10, at_least(0)),
      .fused = false};
  reader.finish();
  return std::make_unique<Adagrad>(std::move(groups), options);
}

Made rmsprop(const TrainingArguments& /*arguments*/, Groups groups, ArgumentReader& reader) {
  const RMSpropOptions options{.alpha = reader.number("alpha", 0.99, from_zero_below_one()),
                               .eps = reader.number("eps", 1e-8, at_least(0)),
                               .momentum = reader.number("momentum", 0.0, at_least(0)),
                               .centered = reader.truth("centered", false),
                               .fused = false};
  reader.finish();
  return std::make_unique<RMSprop>(std::move(groups), options);
}

struct NamedOptimizer {
  std::string_view name;
  Made (*make)(const TrainingArguments&, Groups, ArgumentReader&);
};

constexpr NamedOptimizer kOptimizers[] = {
    {"adamw_torch", adamw}, {"adamw_torch_fused", adamw}, {"adam", adam},
    {"sgd", sgd},           {"adagrad", adagrad},         {"rmsprop", rmsprop},
};

[[noreturn]] void refuse_name(const std::string& name) {
  throw Error(fmt::format("optim is \"{}\": it must be one of {}{}", name, fmt::join(kOptimizerNames, ", "),
                          did_you_mean(name, {kOptimizerNames.begin(), kOptimizerNames.end()})));
}

void check_arguments(const TrainingArguments& arguments, const ArgumentMap& map) {
  if (map.contains("weight_decay")) {
    throw Error("optim_args: weight_decay is not one of them: set the argument weight_decay");
  }
  if (!map.empty() && arguments.optim.starts_with("adam")) {
    throw Error(fmt::format("optim_args: {} takes none, and {} was given: set adam_beta1, adam_beta2 and adam_epsilon",
                            arguments.optim, map.begin()->first));
  }
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const TrainingArguments& arguments, const Model& model) {
  const auto is_it = [&](const NamedOptimizer& optimizer) { return optimizer.name == arguments.optim; };
  const auto* found = std::find_if(std::begin(kOptimizers), std::end(kOptimizers), is_it);
  if (found == std::end(kOptimizers)) refuse_name(arguments.optim);
  const ArgumentMap map = parse_argument_map("optim_args", arguments.optim_args);
  check_arguments(arguments, map);
  ArgumentReader reader("optim_args", arguments.optim, map);
  return found->make(arguments, parameter_groups(model, arguments.weight_decay), reader);
}

}  // namespace lope
