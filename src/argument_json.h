#pragma once
// Arguments to and from JSON.
//
//   Json json = parse_json(text);
//   if (!read_json(json["learning_rate"], arguments.learning_rate)) throw Error(...);

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "lope/argument_map.h"

namespace lope {

struct Field;
struct TrainingArguments;

using Json = nlohmann::ordered_json;

/// @throws Error in one line when the text is not JSON
Json parse_json(std::string_view text);

/// Reads a value; false when it is not of this type. A whole number may be written as 8.0; an empty text is null.
bool read_json(const Json& json, bool& value);
bool read_json(const Json& json, std::int64_t& value);
bool read_json(const Json& json, double& value);
bool read_json(const Json& json, std::string& value);
bool read_json(const Json& json, ArgumentMap& value);

template <typename T>
bool read_json(const Json& json, std::optional<T>& value) {
  value.reset();
  return json.is_null() || read_json(json, value.emplace());
}

/// Counts of updates are written as whole numbers, empty texts and optionals as null.
Json field_to_json(const Field& field, const TrainingArguments& arguments);

}  // namespace lope
