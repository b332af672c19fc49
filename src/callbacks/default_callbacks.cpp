#include <lope/callbacks/default_callbacks.h>
#include <lope/callbacks/message_lines.h>
#include <lope/callbacks/progress_bar.h>
#include <lope/callbacks/trainer_state_file.h>

namespace lope {

std::vector<std::unique_ptr<Callback>> default_callbacks(const TrainingArguments& arguments) {
  std::vector<std::unique_ptr<Callback>> callbacks;
  if (arguments.disable_tqdm.value_or(false)) {
    callbacks.push_back(std::make_unique<MessageLines>());
  } else {
    callbacks.push_back(std::make_unique<ProgressBar>());
  }
  callbacks.push_back(std::make_unique<TrainerStateFile>());
  return callbacks;
}

}  // namespace lope
