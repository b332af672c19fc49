#pragma once
// A log that other programs can follow: one JSON object a line, written at once.
//
//   lope::JsonLinesLog log("run/log.jsonl");
//   // {"loss": 2.31, "grad_norm": 0.9, "learning_rate": 0.0003, "epoch": 0.5, "step": 50}

#include <filesystem>
#include <fstream>

#include "lope/callback.h"

namespace lope {

/// Adds to the file if it exists: the entries of a run and of those that resumed it stand in one file. A value that is
/// not finite is written as NaN, Infinity or -Infinity, as Python's json.dumps does and json.loads reads it.
class JsonLinesLog : public Callback {
 public:
  /// Makes the file's folder too. @throws Error when the file cannot be opened
  explicit JsonLinesLog(std::filesystem::path path);

  /// @throws Error when the line cannot be written (disk full)
  void on_log(const TrainingContext& context, const LogEntry& entry, Control& control) override;

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace lope
