#include <fmt/format.h>
#include <lope/callbacks/json_lines_log.h>
#include <lope/error.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "../python_json.h"

namespace lope {
namespace {

std::string line_of(const LogEntry& entry) {
  std::string line = "{";
  for (const auto& [name, value] : entry.values) {
    line += fmt::format("{}: {}, ", python_string(name), python_number(value));
  }
  return line + fmt::format("\"epoch\": {}, \"step\": {}}}\n", python_number(entry.epoch), entry.step);
}

}  // namespace

JsonLinesLog::JsonLinesLog(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;  // opening the file says what is wrong
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
  file_.open(path_, std::ios::app | std::ios::binary);
  if (!file_) fail();
}

void JsonLinesLog::on_log(const TrainingContext&, const LogEntry& entry, Control&) {
  file_ << line_of(entry) << std::flush;
  if (!file_) fail();
}

void JsonLinesLog::fail() const {
  throw Error(fmt::format("cannot write {}: {}; choose a writable folder with free space", path_.string(),
                          std::strerror(errno)));
}

}  // namespace lope
