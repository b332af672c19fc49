#include <algorithm>
#include <fstream>
#include <iterator>
#include <type_traits>
#include <utility>

#include "argument_json.h"
#include "lope/error.h"
#include "lope/training_arguments.h"
#include "nearest_name.h"
#include "python_only_arguments.h"
#include "training_arguments_fields.h"

namespace lope {
namespace {

void check_python_only(const PythonOnlyArgument& argument, const Json& given) {
  const auto accepted = nlohmann::json::parse(argument.accepted);
  const nlohmann::json unordered = given;  // so that the order of an object's keys does not count
  if (given.is_null() || std::find(accepted.begin(), accepted.end(), unordered) != accepted.end()) return;
  const std::string only = accepted.empty() ? "null" : accepted.front().dump();
  throw Error(std::string(argument.name) + " is " + given.dump() +
              ": this argument of the Python Trainer is not supported, only its default " + only +
              " is accepted; remove it");
}

[[noreturn]] void refuse_unknown(const std::string& name) {
  const std::string_view advice = advice_for_old_name(name);
  throw Error(name + ": unknown argument" +
              (advice.empty() ? did_you_mean(name, field_names()) : "; " + std::string(advice)));
}

void read_map(const Field& field, const Json& given, ArgumentMap& value) {
  if (given.is_string()) {
    value = parse_argument_map(field.name, given.get<std::string>());
  } else if (!read_json(given, value)) {
    throw Error(wrong_value_text(field.name, field, given.dump()));
  }
}

void read_field(const Field& field, const Json& given, TrainingArguments& arguments) {
  visit_field(field, arguments, [&](auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, ArgumentMap>) {
      read_map(field, given, value);
    } else if (!read_json(given, value)) {
      throw Error(wrong_value_text(field.name, field, given.dump()));
    }
  });
}

/// Names and values in a message are as the file has them, line breaks too.
std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, '?');
  return text;
}

void read_argument(const std::string& name, const Json& given, TrainingArguments& arguments) {
  if (const Field* field = find_field(name)) return read_field(*field, given, arguments);
  if (const PythonOnlyArgument* argument = find_python_only_argument(name)) return check_python_only(*argument, given);
  refuse_unknown(name);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw Error("cannot be read; check that it is there and is a file");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TrainingArguments TrainingArguments::from_json(std::string_view text) {
  TrainingArguments arguments;
  arguments.merge_json(text);
  return arguments;
}

TrainingArguments TrainingArguments::from_json_file(const std::filesystem::path& path) {
  TrainingArguments arguments;
  arguments.merge_json_file(path);
  return arguments;
}

void TrainingArguments::merge_json(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object()) throw Error("training arguments must be a JSON object such as {\"learning_rate\": 5e-5}");
  TrainingArguments merged = *this;
  try {
    for (const auto& [name, value] : json.items()) read_argument(name, value, merged);
  } catch (const Error& error) {
    throw Error(one_line(error.what()));
  }
  *this = std::move(merged);
}

void TrainingArguments::merge_json_file(const std::filesystem::path& path) {
  try {
    merge_json(read_file(path));
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

std::string TrainingArguments::to_json() const {
  const TrainingArguments defaults;
  Json json = Json::object();
  for (const FieldGroup& group : training_arguments_groups()) {
    for (const Field& field : group.fields) {
      const Json value = field_to_json(field, *this);
      if (field.origin == Origin::kLope && value == field_to_json(field, defaults)) continue;
      json[std::string(field.name)] = value;
    }
  }
  return json.dump(2);
}

std::vector<ArgumentDescription> TrainingArguments::describe() {
  const TrainingArguments defaults;
  std::vector<ArgumentDescription> descriptions;
  for (const FieldGroup& group : training_arguments_groups()) {
    for (const Field& field : group.fields) {
      descriptions.push_back({std::string(field.name), std::string(group.heading), value_text(field, defaults),
                              allowed_text(field), std::string(field.help)});
    }
  }
  return descriptions;
}

}  // namespace lope
