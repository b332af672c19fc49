#include "progress_text.h"

#include <fmt/format.h>

#include <cmath>

namespace lope {
namespace {

bool is_timing(std::string_view name) { return name.ends_with("_runtime") || name.ends_with("_per_second"); }

std::optional<double> train_loss(const std::vector<LogEntry>& entries) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (const auto loss = entry->find("train_loss")) return loss;
  }
  return std::nullopt;
}

std::string best_text(const TrainingContext& context) {
  const std::string metric = context.arguments.best_metric();
  const std::string name = metric.starts_with("eval_") ? metric : "eval_" + metric;
  return fmt::format(", best {} {} at update {}", name, format_value(name, context.best->value), context.best->step);
}

}  // namespace

std::string format_value(std::string_view name, double value) {
  if (name == "learning_rate") return fmt::format("{:.2e}", value);
  const double size = std::abs(value);
  const bool is_count = name == "skipped";
  if (!is_count && size >= 1e-3 && size < 1e5) return fmt::format("{:.4f}", value);
  return fmt::format("{:.4g}", value);
}

std::string format_speed(const Rates& rates, const Progress& progress) {
  if (progress.tokens == progress.samples) return format_rate(rates.samples) + " samples/s";
  return format_rate(rates.tokens) + " tokens/s";
}

std::string format_times(const Throughput& throughput, int64_t total_steps) {
  if (total_steps <= 0) return format_duration(throughput.seconds());
  const double left = throughput.seconds_left(total_steps).value_or(-1);
  return fmt::format("{}<{}", format_duration(throughput.seconds()), format_duration(left));
}

std::string log_line(const TrainingContext& context, const LogEntry& entry) {
  std::string line = fmt::format("step {}/{}  epoch {:.2f}", entry.step, context.plan.max_steps, entry.epoch);
  for (const auto& [name, value] : entry.values) {
    if (!is_timing(name)) line += fmt::format("  {} {}", name, format_value(name, value));
  }
  return line;
}

std::string summary(const TrainingContext& context, const Throughput& throughput) {
  const Progress& progress = context.progress;
  const bool whole = progress.step >= context.plan.max_steps;
  std::string line = whole ? fmt::format("trained {} updates", progress.step)
                           : fmt::format("stopped after {} of {} updates", progress.step, context.plan.max_steps);
  const Rates rates = throughput.overall();
  line += fmt::format(" in {}: {} updates/s, {}", format_duration(throughput.seconds()), format_rate(rates.steps),
                      format_speed(rates, progress));
  if (const auto loss = train_loss(context.log_history)) line += ", train_loss " + format_value("train_loss", *loss);
  if (context.best) line += best_text(context);
  if (progress.skipped > 0) line += fmt::format(", {} skipped", progress.skipped);
  return line;
}

}  // namespace lope
