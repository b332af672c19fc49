#pragma once
// Named numbers: what evaluation returns and what a log entry holds.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lope {

/// Numbers by name, for example {"eval_loss": 1.9}.
using Metrics = std::map<std::string, double>;

/// One line of the log: numbers in the order in which they are shown, and where in the run they belong.
struct LogEntry {
  std::vector<std::pair<std::string, double>> values;
  double epoch = 0;
  int64_t step = 0;

  /// The value with this name, or nullopt.
  std::optional<double> find(std::string_view name) const {
    for (const auto& [key, value] : values) {
      if (key == name) return value;
    }
    return std::nullopt;
  }
};

}  // namespace lope
