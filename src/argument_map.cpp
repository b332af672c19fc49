#include "lope/argument_map.h"

#include <algorithm>

#include "argument_json.h"
#include "argument_value.h"
#include "lope/error.h"

namespace lope {
namespace {

constexpr std::string_view kSpace = " \t\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

ArgumentValue guessed(std::string_view text) {
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  double number = 0;
  if (read_text(text, number)) return number;
  return std::string(text);
}

[[noreturn]] void refuse(std::string_view owner, std::string_view given, std::string_view reason) {
  throw Error(std::string(owner) + " is " + std::string(given) + ": " + std::string(reason) +
              "; write name=value,name=value or a JSON object of numbers, texts and true or false");
}

ArgumentMap from_object(std::string_view owner, std::string_view text) {
  ArgumentMap values;
  try {
    if (read_json(parse_json(text), values)) return values;
  } catch (const Error& error) {
    refuse(owner, text, error.what());
  }
  refuse(owner, text, "a value is a list or an object");
}

}  // namespace

ArgumentMap parse_argument_map(std::string_view owner, std::string_view text) {
  if (trimmed(text).starts_with('{')) return from_object(owner, trimmed(text));
  ArgumentMap values;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view value = take_until(rest, ',');
    const std::string_view pair = value;
    const std::string_view name = take_until(value, '=');
    if (name.empty() || pair.find('=') == std::string_view::npos) refuse(owner, text, "not every part is name=value");
    values.insert_or_assign(std::string(name), guessed(trimmed(value)));
  }
  return values;
}

}  // namespace lope
