#include "changed_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "lope/error.h"
#include "training_arguments_fields.h"

namespace lope {
namespace {

constexpr std::array<std::string_view, 4> kGroupsThatMatter{"Steps", "Optimizer", "Schedule", "Precision"};

/// Of these groups, what changes nothing of training.
constexpr std::array<std::string_view, 2> kHarmless{"per_device_eval_batch_size", "max_nonfinite_updates"};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void refuse(const std::string& change, const RunPosition& position) {
  throw Error(
      fmt::format("{}, and the checkpoint stands after example {} of epoch {}: the order of the rest would be "
                  "another; take it back, or resume from a checkpoint at the end of an epoch",
                  change, position.loader.examples, position.loader.epoch));
}

}  // namespace

std::vector<std::string> changes_since(const TrainingArguments& saved, const TrainingArguments& present) {
  std::vector<std::string> lines;
  for (const FieldGroup& group : training_arguments_groups()) {
    if (!contains(kGroupsThatMatter, group.heading)) continue;
    for (const Field& field : group.fields) {
      const std::string before = value_text(field, saved);
      const std::string now = value_text(field, present);
      if (before == now || contains(kHarmless, field.name)) continue;
      lines.push_back(
          fmt::format("{} is {}, the checkpoint's was {}: training goes on with {}", field.name, now, before, now));
    }
  }
  return lines;
}

void check_same_order(const TrainingArguments& saved, const TrainingArguments& present, const RunPosition& position,
                      std::optional<int64_t> examples_per_epoch) {
  if (position.loader.examples == 0) return;
  if (saved.order_seed() != present.order_seed()) {
    refuse(
        fmt::format("the seed of the order is {}, the checkpoint's was {}", present.order_seed(), saved.order_seed()),
        position);
  }
  if (saved.train_sampling_strategy != present.train_sampling_strategy) {
    refuse(fmt::format("train_sampling_strategy is \"{}\", the checkpoint's was \"{}\"",
                       present.train_sampling_strategy, saved.train_sampling_strategy),
           position);
  }
  if (position.examples_per_epoch != examples_per_epoch) {
    const auto text = [](const std::optional<int64_t>& count) {
      return count ? fmt::format("{}", *count) : std::string("an unknown number of");
    };
    refuse(fmt::format("an epoch of the training data has {} examples, the checkpoint's had {}",
                       text(examples_per_epoch), text(position.examples_per_epoch)),
           position);
  }
}

}  // namespace lope
