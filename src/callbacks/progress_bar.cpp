#include <fmt/format.h>
#include <lope/callbacks/progress_bar.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>

#include "bar_line.h"
#include "progress_text.h"
#include "terminal.h"

namespace lope {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::size_t kSpeedColumns = std::string_view("12.3k tokens/s").size();

std::optional<double> part(int64_t done, int64_t total) {
  if (total <= 0) return std::nullopt;
  return static_cast<double>(done) / static_cast<double>(total);
}

// Padded, so that what follows does not jump.
std::string count_text(int64_t done, int64_t total) {
  if (total <= 0) return fmt::format("{}", done);
  const std::string all = fmt::format("{}", total);
  return fmt::format("{:>{}}/{}", done, all.size(), all);
}

}  // namespace

class ProgressBar::Impl {
 public:
  explicit Impl(ProgressBarOptions options)
      : options_(std::move(options)),
        stream_(options_.stream == nullptr ? std::cerr : *options_.stream),
        redraws_(options_.redraw.value_or(is_terminal(stream_))),
        style_{.unicode = options_.unicode.value_or(locale_is_utf8()),
               .colour = options_.colour.value_or(redraws_ && !colour_is_unwanted())},
        training_(options_.clock),
        evaluation_(options_.clock) {}

  ~Impl() {
    if (line_is_open_) stream_ << std::endl;
  }

  void begin(const TrainingContext& context) {
    is_training_ = true;
    logged_ = {};
    training_.start(work(context));
    draw_training(context);
  }

  void step(const TrainingContext& context) {
    training_.resume();
    training_.update(work(context));
    if (is_due(next_step_)) draw_training(context);
  }

  void log(const TrainingContext& context, const LogEntry& entry) {
    const bool is_final = entry.find("train_loss").has_value();
    const bool is_update = entry.find("loss").has_value();
    if (is_update) logged_ = entry;
    if (is_final) return;
    if (!redraws_) {
      print(plain_line(context, entry, is_update));
    } else if (!is_update) {
      print(log_line(context, entry));
    }
    if (is_training_ && is_due(next_log_)) draw_training(context);
  }

  void evaluate(const TrainingContext& context, int64_t done, int64_t total) {
    if (done == 0) begin_evaluation();
    evaluation_.update({.steps = done});
    if (done == total) {
      end_evaluation(context);
    } else if (done == 0 || is_due(next_step_)) {
      draw_evaluation(done, total);
    }
  }

  void end_evaluation(const TrainingContext& context) {
    training_.resume();
    if (is_training_) {
      draw_training(context);
    } else {
      clear();
    }
  }

  void message(const TrainingContext& context, const std::string& text) {
    print(text);
    if (is_training_) draw_training(context);
  }

  void end(const TrainingContext& context) {
    training_.update(work(context));
    draw_training(context);
    if (line_is_open_) stream_ << '\n';
    line_is_open_ = false;
    is_training_ = false;
    print(summary(context, training_));
  }

 private:
  static Work work(const TrainingContext& context) {
    return {.steps = context.progress.step, .samples = context.progress.samples, .tokens = context.progress.tokens};
  }

  bool is_due(double& next) {
    const double now = options_.clock();
    if (!redraws_ || now < next) return false;
    next = now + 1 / options_.redraws_per_second;
    return true;
  }

  void begin_evaluation() {
    training_.pause();
    evaluation_.start();
  }

  std::string plain_line(const TrainingContext& context, const LogEntry& entry, bool is_update) const {
    std::string line = log_line(context, entry);
    if (!is_update) return line;
    return fmt::format("{}  {}  {}", line, format_speed(training_.recent(), context.progress),
                       format_times(training_, context.plan.max_steps));
  }

  void draw_training(const TrainingContext& context) {
    const Progress& progress = context.progress;
    const int64_t total = context.plan.max_steps;
    BarLine line{.fraction = part(progress.step, total), .fields = {{.value = count_text(progress.step, total)}}};
    const auto add_logged = [&](std::string_view label, std::string_view name, int rank) {
      if (const auto value = logged_.find(name)) line.fields.push_back({label, format_value(name, *value), rank});
    };
    add_logged("loss", "loss", 2);
    add_logged("lr", "learning_rate", 5);
    add_logged("norm", "grad_norm", 7);
    line.fields.push_back({"epoch", fmt::format("{:.2f}", context.epoch), 6});
    const double skipped = std::max(static_cast<double>(progress.skipped), logged_.find("skipped").value_or(0));
    if (skipped > 0) line.fields.push_back({"skipped", fmt::format("{:.0f}", skipped), 1, true});
    line.fields.push_back({"", fmt::format("{:>{}}", format_speed(training_.recent(), progress), kSpeedColumns), 4});
    line.fields.push_back({"", format_times(training_, total), 3});
    draw(line);
  }

  void draw_evaluation(int64_t done, int64_t total) {
    BarLine line{.title = "evaluating", .fraction = part(done, total), .fields = {{.value = count_text(done, total)}}};
    line.fields.push_back({"", format_rate(evaluation_.recent().steps) + " batches/s", 2});
    line.fields.push_back({"", format_times(evaluation_, total), 1});
    draw(line);
  }

  // The last column stays free: a terminal that has it filled may break the line.
  void draw(const BarLine& line) {
    if (!redraws_) return;
    const int width = options_.width ? *options_.width : terminal_width(stream_);
    stream_ << kClearLine << render(line, width - 1, style_) << std::flush;
    line_is_open_ = true;
  }

  void clear() {
    if (line_is_open_) stream_ << kClearLine << std::flush;
    line_is_open_ = false;
  }

  void print(const std::string& text) {
    clear();
    stream_ << text << std::endl;
  }

  ProgressBarOptions options_;
  std::ostream& stream_;
  bool redraws_;
  BarStyle style_;
  Throughput training_;
  Throughput evaluation_;
  LogEntry logged_;
  double next_step_ = 0;
  double next_log_ = 0;
  bool is_training_ = false;
  bool line_is_open_ = false;
};

ProgressBar::ProgressBar(ProgressBarOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

ProgressBar::~ProgressBar() = default;

void ProgressBar::on_train_begin(const TrainingContext& context, Control&) { impl_->begin(context); }

void ProgressBar::on_step_end(const TrainingContext& context, const StepReport&, Control&) { impl_->step(context); }

void ProgressBar::on_log(const TrainingContext& context, const LogEntry& entry, Control&) {
  impl_->log(context, entry);
}

void ProgressBar::on_evaluation_step(const TrainingContext& context, int64_t done, int64_t total) {
  impl_->evaluate(context, done, total);
}

void ProgressBar::on_evaluate(const TrainingContext& context, const Metrics&, Control&) {
  impl_->end_evaluation(context);
}

void ProgressBar::on_message(const TrainingContext& context, const std::string& text) { impl_->message(context, text); }

void ProgressBar::on_train_end(const TrainingContext& context) { impl_->end(context); }

}  // namespace lope
