#pragma once
// Keeps trainer_state.json up to date while a run goes on.
//
//   trainer.add_callback(std::make_unique<lope::TrainerStateFile>());   // in output_dir
//
// The file is the Python Trainer's (see trainer_state.h), so tools that read its log_history can follow the run.

#include <filesystem>

#include "lope/callback.h"
#include "lope/throughput.h"

namespace lope {

/// Writes after log entries and evaluations, but neither more often than every five seconds nor for more than a
/// fiftieth of the time; and always at the end.
class TrainerStateFile : public Callback {
 public:
  /// @param path  empty: trainer_state.json in the run's output_dir. Its folder is made.
  explicit TrainerStateFile(std::filesystem::path path = {}, Clock clock = steady_seconds);

  /// @throws Error when the folder cannot be made
  void on_train_begin(const TrainingContext& context, Control& control) override;
  /// These throw Error when the file cannot be written.
  void on_log(const TrainingContext& context, const LogEntry& entry, Control& control) override;
  void on_evaluate(const TrainingContext& context, const Metrics& metrics, Control& control) override;
  void on_train_end(const TrainingContext& context) override;

 private:
  void write_when_due(const TrainingContext& context);
  void write(const TrainingContext& context);

  std::filesystem::path given_;
  std::filesystem::path path_;
  Clock clock_;
  double due_ = 0;
};

}  // namespace lope
