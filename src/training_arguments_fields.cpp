#include "training_arguments_fields.h"

#include <type_traits>

#include "argument_json.h"
#include "lope/error.h"

namespace lope {

const Field* find_field(std::string_view name) {
  for (const FieldGroup& group : training_arguments_groups()) {
    for (const Field& field : group.fields) {
      if (field.name == name) return &field;
    }
  }
  return nullptr;
}

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  for (const FieldGroup& group : training_arguments_groups()) {
    for (const Field& field : group.fields) names.push_back(field.name);
  }
  return names;
}

std::string allowed_text(const Field& field) {
  const TrainingArguments defaults;
  return visit_field(field, defaults, [&](const auto& value) { return allowed_text(&value, field.allowed); });
}

std::string wrong_value_text(std::string_view label, const Field& field, std::string_view given) {
  return wrong_value_text(label, given, allowed_text(field), value_text(field, TrainingArguments{}),
                          field.allowed.names);
}

std::string value_text(const Field& field, const TrainingArguments& arguments) {
  const Json value = field_to_json(field, arguments);
  return value.is_number_float() ? number_text(value.get<double>()) : value.dump();
}

void set_field(const Field& field, std::string_view label, std::string_view text, TrainingArguments& arguments) {
  visit_field(field, arguments, [&](auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, ArgumentMap>) {
      value = parse_argument_map(label, text);
    } else if (!read_text(text, value)) {
      throw Error(wrong_value_text(label, field, text));
    }
  });
  check_field(field, label, arguments);
}

void check_field(const Field& field, std::string_view label, const TrainingArguments& arguments) {
  const bool allowed =
      visit_field(field, arguments, [&](const auto& value) { return is_allowed(value, field.allowed); });
  if (allowed) return;
  throw Error(wrong_value_text(label, field, value_text(field, arguments)));
}

}  // namespace lope
