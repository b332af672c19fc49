#include <fmt/format.h>
#include <lope/callbacks/trainer_state_file.h>
#include <lope/error.h>
#include <lope/trainer_state.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace lope {
namespace {

constexpr double kLeastSeconds = 5;
constexpr double kTimesItsCost = 50;

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw Error(
      fmt::format("cannot make the folder {}: {}; choose another output_dir", folder.string(), error.message()));
}

}  // namespace

TrainerStateFile::TrainerStateFile(std::filesystem::path path, Clock clock)
    : given_(std::move(path)), clock_(std::move(clock)) {}

void TrainerStateFile::on_train_begin(const TrainingContext& context, Control&) {
  path_ = given_.empty() ? std::filesystem::path(context.arguments.output_dir) / "trainer_state.json" : given_;
  make_folder(path_.parent_path());
  due_ = clock_() + kLeastSeconds;
}

void TrainerStateFile::on_log(const TrainingContext& context, const LogEntry&, Control&) { write_when_due(context); }

void TrainerStateFile::on_evaluate(const TrainingContext& context, const Metrics&, Control&) {
  write_when_due(context);
}

void TrainerStateFile::on_train_end(const TrainingContext& context) { write(context); }

void TrainerStateFile::write_when_due(const TrainingContext& context) {
  if (path_.empty() || clock_() < due_) return;
  write(context);
}

void TrainerStateFile::write(const TrainingContext& context) {
  const double before = clock_();
  TrainerState::of(context).save(path_);
  const double after = clock_();
  due_ = after + std::max(kLeastSeconds, kTimesItsCost * (after - before));
}

}  // namespace lope
