#pragma once
// Prints what a run has to say, where there is no progress bar that does.
//
//   trainer_options.callbacks = {std::make_shared<lope::MessageLines>()};     // on std::cerr

#include <ostream>
#include <string>

#include "lope/callback.h"

namespace lope {

/// One line for each message.
class MessageLines : public Callback {
 public:
  /// `stream` outlives the callback; nullptr: std::cerr.
  explicit MessageLines(std::ostream* stream = nullptr);

  void on_message(const TrainingContext& context, const std::string& text) override;

 private:
  std::ostream& stream_;
};

}  // namespace lope
