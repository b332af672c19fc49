#include "argument_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lope/error.h>

#include <algorithm>
#include <cmath>

#include "nearest_name.h"

namespace lope {
namespace {

// Whole numbers up to here are doubles.
constexpr double kLargestWhole = 9007199254740992.0;

std::string shown(const ArgumentValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return '"' + std::get<std::string>(value) + '"';
}

bool is_whole(double value) { return value == std::floor(value) && std::abs(value) <= kLargestWhole; }

}  // namespace

const ArgumentValue* ArgumentReader::find(std::string_view name) {
  asked_.push_back(name);
  const auto found = arguments_.find(name);
  return found == arguments_.end() ? nullptr : &found->second;
}

void ArgumentReader::refuse(std::string_view name, const std::string& allowed) const {
  const std::string given = shown(arguments_.find(name)->second);
  throw Error(fmt::format("{}: {} of {} is {}: it must be {}", owner_, name, user_, given, allowed));
}

std::optional<double> ArgumentReader::number(std::string_view name, const Allowed& allowed) {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* number = std::get_if<double>(value);
  if (number == nullptr || !is_allowed(*number, allowed)) refuse(name, allowed_text(number, allowed));
  return *number;
}

double ArgumentReader::number(std::string_view name, double otherwise, const Allowed& allowed) {
  return number(name, allowed).value_or(otherwise);
}

std::optional<int64_t> ArgumentReader::whole(std::string_view name, const Allowed& allowed) {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* number = std::get_if<double>(value);
  if (number == nullptr || !is_whole(*number) || !is_allowed(*number, allowed)) {
    refuse(name, allowed_text(static_cast<const int64_t*>(nullptr), allowed));
  }
  return static_cast<int64_t>(*number);
}

int64_t ArgumentReader::whole(std::string_view name, int64_t otherwise, const Allowed& allowed) {
  return whole(name, allowed).value_or(otherwise);
}

bool ArgumentReader::truth(std::string_view name, bool otherwise) {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return otherwise;
  const auto* truth = std::get_if<bool>(value);
  if (truth == nullptr) refuse(name, allowed_text(truth, {}));
  return *truth;
}

std::string ArgumentReader::text(std::string_view name, std::string_view otherwise,
                                 std::span<const std::string_view> names) {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return std::string(otherwise);
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr || !is_allowed(*text, one_of(names))) refuse(name, allowed_text(text, one_of(names)));
  return *text;
}

void ArgumentReader::finish() const {
  for (const auto& [name, value] : arguments_) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    if (asked_.empty()) throw Error(fmt::format("{}: {} takes no arguments; leave {} out", owner_, user_, name));
    throw Error(fmt::format("{}: {} is not an argument of {}; it takes {}{}", owner_, name, user_,
                            fmt::join(asked_, ", "), did_you_mean(name, asked_)));
  }
}

}  // namespace lope
