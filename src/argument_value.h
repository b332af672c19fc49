#pragma once
// What the values of arguments have in common, whether they come from JSON or from the command line.
//
//   double rate = 0;
//   if (!read_text("5e-5", rate) || !is_allowed(rate, at_least(0))) throw Error(...);
//   allowed_text<double>(at_least(0));  // "a number of 0 or more"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lope/argument_map.h"

namespace lope {

/// The values that an argument may have.
struct Allowed {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;                        ///< `min` itself is not allowed
  bool below_max = false;                        ///< `max` itself is not allowed
  bool counts_updates = false;                   ///< from 1 on a number of updates, below it a part of all updates
  bool whole = false;                            ///< such a number of updates must be a whole one
  std::span<const std::string_view> names = {};  ///< of texts: nothing else is allowed, unless it is empty
  bool (*accepts)(std::string_view) = nullptr;   ///< of texts: decides where a list of names cannot
  std::string_view text = {};                    ///< says in words what `accepts` allows
};

constexpr Allowed at_least(double min) { return {.min = min}; }
constexpr Allowed above(double min) { return {.min = min, .above_min = true}; }
constexpr Allowed from_zero_below_one() { return {.min = 0, .max = 1, .below_max = true}; }
constexpr Allowed steps() { return {.min = 0, .above_min = true, .counts_updates = true, .whole = true}; }
constexpr Allowed warmup() { return {.min = 0, .counts_updates = true}; }
constexpr Allowed one_of(std::span<const std::string_view> names) { return {.names = names}; }

bool is_allowed(bool value, const Allowed& allowed);
bool is_allowed(std::int64_t value, const Allowed& allowed);
bool is_allowed(double value, const Allowed& allowed);
bool is_allowed(const std::string& value, const Allowed& allowed);
bool is_allowed(const ArgumentMap& value, const Allowed& allowed);

/// An empty optional is always allowed.
template <typename T>
bool is_allowed(const std::optional<T>& value, const Allowed& allowed) {
  return !value || is_allowed(*value, allowed);
}

/// Reads a value as the command line gives it; false when it is not of this type.
bool read_text(std::string_view text, bool& value);
bool read_text(std::string_view text, std::int64_t& value);
bool read_text(std::string_view text, double& value);
bool read_text(std::string_view text, std::string& value);

/// "none" empties an optional.
template <typename T>
bool read_text(std::string_view text, std::optional<T>& value) {
  value.reset();
  return text == "none" || read_text(text, value.emplace());
}

/// The kind of value in one word, as a help text shows it.
std::string_view type_word(const bool*);
std::string_view type_word(const std::int64_t*);
std::string_view type_word(const double*);
std::string_view type_word(const std::string*);
std::string_view type_word(const ArgumentMap*);

/// "a whole number", "a number" and so on, with the range.
std::string allowed_text(const bool*, const Allowed& allowed);
std::string allowed_text(const std::int64_t*, const Allowed& allowed);
std::string allowed_text(const double*, const Allowed& allowed);
std::string allowed_text(const std::string*, const Allowed& allowed);
std::string allowed_text(const ArgumentMap*, const Allowed& allowed);

template <typename T>
std::string_view type_word(const std::optional<T>*) {
  return type_word(static_cast<const T*>(nullptr));
}

template <typename T>
std::string allowed_text(const std::optional<T>*, const Allowed& allowed) {
  return allowed_text(static_cast<const T*>(nullptr), allowed);
}

/// "LABEL is GIVEN: it must be ALLOWED (default DEFAULT)", with the nearest of `names` if there is one.
/// A default of "null" is shown as not set.
std::string wrong_value_text(std::string_view label, std::string_view given, std::string_view allowed,
                             std::string_view default_value, std::span<const std::string_view> names);

/// The shortest text that reads back as the same number.
std::string number_text(double value);

}  // namespace lope
