#include "nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace lope {
namespace {

constexpr std::size_t kShortestPart = 4;

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view given, const std::vector<std::string_view>& names) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(given, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  if (!best.empty() || given.size() < kShortestPart) return best;
  const auto holds = [&](std::string_view name) { return name.find(given) != std::string_view::npos; };
  const auto found = std::find_if(names.begin(), names.end(), holds);
  return found == names.end() ? best : *found;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string_view>& names, std::string_view prefix) {
  const std::string_view name = nearest_name(given, names);
  if (name.empty()) return "";
  return "; did you mean " + std::string(prefix) + std::string(name) + "?";
}

}  // namespace lope
