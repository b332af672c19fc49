#pragma once
// What is different between the arguments that a checkpoint was made with and those that it is resumed with.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lope/training_arguments.h"
#include "run_position.h"

namespace lope {

/// One line for each argument that changes what training computes: the present one is used. Settings of logging,
/// evaluation and saving take their new values without a word.
std::vector<std::string> changes_since(const TrainingArguments& saved, const TrainingArguments& present);

/// Throws Error when the position stands in the middle of an epoch whose order of examples would be another one.
void check_same_order(const TrainingArguments& saved, const TrainingArguments& present, const RunPosition& position,
                      std::optional<int64_t> examples_per_epoch);

}  // namespace lope
