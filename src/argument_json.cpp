#include "argument_json.h"

#include <cmath>

#include "lope/error.h"
#include "training_arguments_fields.h"

namespace lope {
namespace {

// Doubles hold every whole number up to here.
constexpr double kLargestWhole = 9007199254740992.0;

constexpr int kDeepest = 100;

bool is_whole(double number) { return std::abs(number) <= kLargestWhole && number == std::floor(number); }

bool read_value(const Json& json, ArgumentValue& value) {
  if (json.is_boolean()) value = json.get<bool>();
  if (json.is_number()) value = json.get<double>();
  if (json.is_string()) value = json.get<std::string>();
  return json.is_primitive();
}

Json to_json_value(bool value, const Allowed&) { return value; }
Json to_json_value(std::int64_t value, const Allowed&) { return value; }

Json to_json_value(double value, const Allowed& allowed) {
  if (allowed.counts_updates && is_whole(value)) return static_cast<std::int64_t>(value);
  return value;
}

Json to_json_value(const std::string& value, const Allowed&) { return value.empty() ? Json() : Json(value); }

Json to_json_value(const ArgumentMap& values, const Allowed&) {
  if (values.empty()) return {};
  Json json = Json::object();
  for (const auto& [name, value] : values) {
    std::visit([&, &key = name](const auto& held) { json[key] = held; }, value);
  }
  return json;
}

template <typename T>
Json to_json_value(const std::optional<T>& value, const Allowed& allowed) {
  return value ? to_json_value(*value, allowed) : Json();
}

}  // namespace

Json parse_json(std::string_view text) {
  // What reads and prints the tree calls itself at each level.
  const auto refuse_deep = [](int depth, Json::parse_event_t, const Json&) {
    if (depth >= kDeepest) throw Error("not valid JSON: it is nested deeper than a hundred levels");
    return true;
  };
  try {
    return Json::parse(text, refuse_deep);
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();
    const std::size_t start = what.find("] ");  // after "[json.exception.parse_error.101] "
    throw Error("not valid JSON: " + std::string(what.substr(start == std::string_view::npos ? 0 : start + 2)));
  }
}

bool read_json(const Json& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
  return json.is_boolean();
}

bool read_json(const Json& json, std::int64_t& value) {
  const bool whole = json.is_number_integer() ? !json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX
                                              : json.is_number_float() && is_whole(json.get<double>());
  if (whole) value = json.get<std::int64_t>();
  return whole;
}

bool read_json(const Json& json, double& value) {
  if (json.is_number()) value = json.get<double>();
  return json.is_number();
}

bool read_json(const Json& json, std::string& value) {
  if (json.is_null()) value.clear();
  if (json.is_string()) value = json.get<std::string>();
  return json.is_null() || json.is_string();
}

bool read_json(const Json& json, ArgumentMap& value) {
  value.clear();
  if (json.is_null()) return true;
  if (!json.is_object()) return false;
  for (const auto& [name, item] : json.items()) {
    if (item.is_null()) continue;
    if (!read_value(item, value[name])) return false;
  }
  return true;
}

Json field_to_json(const Field& field, const TrainingArguments& arguments) {
  return visit_field(field, arguments, [&](const auto& value) { return to_json_value(value, field.allowed); });
}

}  // namespace lope
