#include "bar_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lope {
namespace {

constexpr int kShortestBar = 8;
constexpr int kLongestBar = 40;
constexpr int kBarMargins = 3;  // a space and two edges
constexpr std::string_view kGap = "  ";

constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kCyan = "\x1b[36m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[0m";

// Left parts of a block, in eighths.
constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string painted(std::string_view text, std::string_view colour, const BarStyle& style) {
  return style.colour && !text.empty() ? fmt::format("{}{}{}", colour, text, kPlain) : std::string(text);
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string head_of(const BarLine& line) {
  const std::string title =
      line.title.empty() || !line.fraction ? std::string(line.title) : fmt::format("{} ", line.title);
  return line.fraction ? fmt::format("{}{:3.0f}%", title, std::floor(100 * *line.fraction)) : title;
}

int columns(const BarField& field) {
  const std::size_t label = field.label.empty() ? 0 : field.label.size() + 1;
  return static_cast<int>(kGap.size() + label + field.value.size());
}

int columns(const std::vector<BarField>& fields) {
  int sum = 0;
  for (const BarField& field : fields) sum += columns(field);
  return sum;
}

// The last field of the highest rank goes.
bool drop_one(std::vector<BarField>& fields) {
  const auto lower = [](const BarField& a, const BarField& b) { return a.rank <= b.rank; };
  const auto worst = std::max_element(fields.begin(), fields.end(), lower);
  if (worst == fields.end() || worst->rank == 0) return false;
  fields.erase(worst);
  return true;
}

std::string unicode_bar(double fraction, int width, const BarStyle& style) {
  const int eighths = static_cast<int>(std::floor(fraction * width * 8));
  const std::string filled = repeated("█", eighths / 8) + std::string(kEighths[static_cast<std::size_t>(eighths % 8)]);
  const int blank = width - (eighths + 7) / 8;
  return fmt::format("▕{}{}▏", painted(filled, fraction < 1 ? kCyan : kGreen, style), repeated(" ", blank));
}

std::string ascii_bar(double fraction, int width, const BarStyle& style) {
  const int filled = static_cast<int>(std::floor(fraction * width));
  const bool has_tip = filled > 0 && filled < width;
  const std::string done = repeated("=", filled - (has_tip ? 1 : 0)) + (has_tip ? ">" : "");
  return fmt::format("[{}{}]", painted(done, fraction < 1 ? kCyan : kGreen, style), repeated(" ", width - filled));
}

std::string shown(const BarField& field, const BarStyle& style) {
  const std::string label = field.label.empty() ? "" : painted(fmt::format("{} ", field.label), kDim, style);
  return fmt::format("{}{}{}", kGap, label, field.is_warning ? painted(field.value, kYellow, style) : field.value);
}

// With the space before it; empty where there is no room.
std::string bar_of(const BarLine& line, int width, const BarStyle& style) {
  if (!line.fraction || width < 1) return "";
  const int inside = std::min(width, kLongestBar);
  return " " + (style.unicode ? unicode_bar : ascii_bar)(*line.fraction, inside, style);
}

}  // namespace

std::string render(const BarLine& line, int width, const BarStyle& style) {
  BarLine fitting = line;
  if (line.fraction) fitting.fraction = std::clamp(*line.fraction, 0.0, 1.0);
  std::string text = head_of(fitting);
  const int head = static_cast<int>(text.size());
  const auto room = [&] { return width - head - columns(fitting.fields); };
  const int least = line.fraction ? kBarMargins + kShortestBar : 0;
  while (room() < least && drop_one(fitting.fields)) {
  }
  if (room() < 0) return text.substr(0, static_cast<std::size_t>(std::max(width, 0)));
  text += bar_of(fitting, room() - kBarMargins, style);
  for (const BarField& field : fitting.fields) text += shown(field, style);
  return text;
}

}  // namespace lope
