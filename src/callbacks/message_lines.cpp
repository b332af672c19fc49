#include <lope/callbacks/message_lines.h>

#include <iostream>

namespace lope {

MessageLines::MessageLines(std::ostream* stream) : stream_(stream == nullptr ? std::cerr : *stream) {}

void MessageLines::on_message(const TrainingContext& /*context*/, const std::string& text) {
  stream_ << text << std::endl;
}

}  // namespace lope
