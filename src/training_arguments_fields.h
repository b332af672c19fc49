#pragma once
// The one table of TrainingArguments' fields: JSON, flags, checks, help and the README's table all come from it.
//
//   for (const Field& field : training_arguments_fields()) print(field.name, field.help);
//   if (const Field* field = find_field("learning_rate")) ...

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "argument_value.h"
#include "lope/training_arguments.h"

namespace lope {

template <typename T>
using FieldOf = T TrainingArguments::*;

using FieldMember = std::variant<FieldOf<bool>, FieldOf<std::int64_t>, FieldOf<double>, FieldOf<std::string>,
                                 FieldOf<std::optional<bool>>, FieldOf<std::optional<std::int64_t>>,
                                 FieldOf<std::optional<double>>, FieldOf<ArgumentMap>>;

/// Who knows the field: the Python class too, or Lope alone.
enum class Origin { kShared, kLope };

struct Field {
  std::string_view name;
  FieldMember member;
  std::string_view help;
  Allowed allowed = {};
  Origin origin = Origin::kShared;
};

/// Fields that belong together, under one heading.
struct FieldGroup {
  std::string_view heading;
  std::span<const Field> fields;
};

std::span<const FieldGroup> training_arguments_groups();

/// Null when no field has this name.
const Field* find_field(std::string_view name);

std::vector<std::string_view> field_names();

/// Calls `visitor` with the field's value in `arguments`.
template <typename Arguments, typename Visitor>
decltype(auto) visit_field(const Field& field, Arguments& arguments, Visitor&& visitor) {
  return std::visit([&](auto member) -> decltype(auto) { return visitor(arguments.*member); }, field.member);
}

/// What the field may hold, in words.
std::string allowed_text(const Field& field);

/// "LABEL is GIVEN: it must be …", with the nearest name of a field that has names.
std::string wrong_value_text(std::string_view label, const Field& field, std::string_view given);

/// The field's value as JSON.
std::string value_text(const Field& field, const TrainingArguments& arguments);

/// Sets the field from text, as a flag gives it.
/// @throws Error naming `label` when the text is not of the field's type or its value not allowed
void set_field(const Field& field, std::string_view label, std::string_view text, TrainingArguments& arguments);

/// @throws Error when the field's value is not allowed
void check_field(const Field& field, std::string_view label, const TrainingArguments& arguments);

}  // namespace lope
