#include "jsonl_data.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "lope/error.h"

namespace {

using nlohmann::json;

constexpr int64_t kIgnored = -100;

void check_token(const json& token, const char* field, const DataLimits& limits) {
  if (!token.is_number_integer())
    throw lope::Error(fmt::format("{} holds {}: it must be a token", field, token.dump()));
  const auto value = token.get<int64_t>();
  if (value == kIgnored && std::string_view(field) == "labels") return;
  if (value >= 0 && value < limits.vocab_size) return;
  throw lope::Error(
      fmt::format("token {} in {} is beyond the model's vocab_size of {}", token.dump(), field, limits.vocab_size));
}

at::Tensor tokens(const json& example, const char* field, const DataLimits& limits) {
  const json& list = example[field];
  if (!list.is_array()) throw lope::Error(fmt::format("{} must be a list of tokens", field));
  for (const json& token : list) check_token(token, field, limits);
  return at::tensor(list.get<std::vector<int64_t>>(), at::kLong);
}

lope::Batch parse_example(const std::string& line, const DataLimits& limits) {
  const json example = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!example.is_object() || !example.contains("input_ids")) {
    throw lope::Error("it must be a JSON object with input_ids");
  }
  const at::Tensor ids = tokens(example, "input_ids", limits);
  const at::Tensor labels = example.contains("labels") ? tokens(example, "labels", limits) : ids;
  if (ids.numel() == 0) throw lope::Error("input_ids is empty");
  if (ids.numel() > limits.n_positions) {
    throw lope::Error(
        fmt::format("it has {} tokens, but the model has only n_positions {}", ids.numel(), limits.n_positions));
  }
  if (ids.numel() != labels.numel()) {
    throw lope::Error(fmt::format("it has {} input_ids but {} labels", ids.numel(), labels.numel()));
  }
  return {{"input_ids", ids}, {"labels", labels}};
}

lope::Batch parse_line(const std::string& path, size_t number, const std::string& line, const DataLimits& limits) {
  try {
    return parse_example(line, limits);
  } catch (const lope::Error& error) {
    throw lope::Error(fmt::format("{} line {}: {}", path, number, error.what()));
  }
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

}  // namespace

JsonlData::JsonlData(const std::string& path, const DataLimits& limits) {
  std::ifstream file(path);
  if (!file) throw lope::Error(fmt::format("cannot read {}: give the path of a readable file", path));
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (!is_blank(line)) examples_.push_back(parse_line(path, number, line, limits));
  }
  if (examples_.empty()) throw lope::Error(fmt::format("{} has no examples: give it a line for each", path));
}
