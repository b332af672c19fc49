#include "argument_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <system_error>

#include "nearest_name.h"

namespace lope {
namespace {

template <typename Number>
bool read_number(std::string_view text, Number& value) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  return error == std::errc{} && rest == end;
}

bool in_range(double value, const Allowed& allowed) {
  const bool high_enough = allowed.above_min ? value > allowed.min : value >= allowed.min;
  const bool low_enough = allowed.below_max ? value < allowed.max : value <= allowed.max;
  return high_enough && low_enough;
}

std::string range_text(const Allowed& allowed) {
  const bool has_min = std::isfinite(allowed.min);
  const bool has_max = std::isfinite(allowed.max);
  const std::string min = number_text(allowed.min);
  const std::string max = number_text(allowed.max);
  if (!has_min && !has_max) return "";
  if (!has_max) return allowed.above_min ? " above " + min : " of " + min + " or more";
  if (!has_min) return (allowed.below_max ? " below " : " of at most ") + max;
  return (allowed.above_min ? " above " : " from ") + min + (allowed.below_max ? " to below " : " to ") + max;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace

bool is_allowed(bool, const Allowed&) { return true; }

bool is_allowed(std::int64_t value, const Allowed& allowed) { return in_range(static_cast<double>(value), allowed); }

bool is_allowed(double value, const Allowed& allowed) {
  if (!std::isfinite(value) || !in_range(value, allowed)) return false;
  return !allowed.whole || value < 1 || value == std::floor(value);
}

bool is_allowed(const std::string& value, const Allowed& allowed) {
  if (allowed.accepts != nullptr) return allowed.accepts(value);
  return allowed.names.empty() || std::find(allowed.names.begin(), allowed.names.end(), value) != allowed.names.end();
}

bool is_allowed(const ArgumentMap&, const Allowed&) { return true; }

bool read_text(std::string_view text, bool& value) {
  value = is_any_of(text, {"true", "True", "1", "yes"});
  return value || is_any_of(text, {"false", "False", "0", "no"});
}

bool read_text(std::string_view text, std::int64_t& value) { return read_number(text, value); }

bool read_text(std::string_view text, double& value) { return read_number(text, value); }

bool read_text(std::string_view text, std::string& value) {
  value = text;
  return true;
}

std::string_view type_word(const bool*) { return "true|false"; }
std::string_view type_word(const std::int64_t*) { return "INTEGER"; }
std::string_view type_word(const double*) { return "NUMBER"; }
std::string_view type_word(const std::string*) { return "TEXT"; }
std::string_view type_word(const ArgumentMap*) { return "NAME=VALUE,..."; }

std::string allowed_text(const bool*, const Allowed&) { return "true or false"; }

std::string allowed_text(const std::int64_t*, const Allowed& allowed) { return "a whole number" + range_text(allowed); }

std::string allowed_text(const double*, const Allowed& allowed) {
  if (allowed.whole) return "a whole number of updates, or a part of all updates above 0 and below 1";
  return "a number" + range_text(allowed);
}

std::string allowed_text(const std::string*, const Allowed& allowed) {
  if (!allowed.text.empty()) return std::string(allowed.text);
  return allowed.names.empty() ? "a text" : "one of " + joined(allowed.names);
}

std::string allowed_text(const ArgumentMap*, const Allowed&) {
  return "a JSON object of numbers, texts and true or false, or name=value,name=value";
}

std::string wrong_value_text(std::string_view label, std::string_view given, std::string_view allowed,
                             std::string_view default_value, std::span<const std::string_view> names) {
  std::string text{label};
  text.append(" is ").append(given).append(": it must be ").append(allowed);
  text.append(" (default ").append(default_value == "null" ? "not set" : default_value).append(")");
  return text + did_you_mean(without_quotes(given), {names.begin(), names.end()});
}

std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

}  // namespace lope
