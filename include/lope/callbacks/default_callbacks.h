#pragma once
// The callbacks that a run has when nobody says otherwise.
//
//   for (auto& callback : lope::default_callbacks(arguments)) trainer.add_callback(std::move(callback));

#include <memory>
#include <vector>

#include "lope/callback.h"

namespace lope {

/// A progress bar on stderr, or plain messages when `disable_tqdm` is true, and trainer_state.json in `output_dir`.
std::vector<std::unique_ptr<Callback>> default_callbacks(const TrainingArguments& arguments);

}  // namespace lope
