#include "lope/json_lines_dataset.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lope/error.h"

namespace lope {
namespace {

using nlohmann::json;

constexpr int64_t kIgnored = -100;

void check_token(const json& token, std::string_view field, const JsonLinesOptions& options) {
  if (!token.is_number_integer()) throw Error(fmt::format("{} holds {}: it must be a token", field, token.dump()));
  const auto value = token.get<int64_t>();
  if (value == kIgnored && field == "labels") return;
  if (value >= 0 && (options.vocab_size == 0 || value < options.vocab_size)) return;
  if (options.vocab_size == 0) throw Error(fmt::format("token {} in {} is below 0", token.dump(), field));
  throw Error(
      fmt::format("token {} in {} is beyond the model's vocab_size of {}", token.dump(), field, options.vocab_size));
}

at::Tensor tokens(const json& example, const char* field, const JsonLinesOptions& options) {
  const json& list = example[field];
  if (!list.is_array()) throw Error(fmt::format("{} must be a list of tokens", field));
  for (const json& token : list) check_token(token, field, options);
  return at::tensor(list.get<std::vector<int64_t>>(), at::kLong);
}

Batch parse_example(std::string_view line, const JsonLinesOptions& options) {
  const json example = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!example.is_object() || !example.contains("input_ids")) {
    throw Error("it must be a JSON object with input_ids");
  }
  const at::Tensor ids = tokens(example, "input_ids", options);
  const at::Tensor labels = example.contains("labels") ? tokens(example, "labels", options) : ids;
  if (ids.numel() == 0) throw Error("input_ids is empty");
  if (options.n_positions > 0 && ids.numel() > options.n_positions) {
    throw Error(
        fmt::format("it has {} tokens, but the model has only n_positions {}", ids.numel(), options.n_positions));
  }
  if (ids.numel() != labels.numel()) {
    throw Error(fmt::format("it has {} input_ids but {} labels", ids.numel(), labels.numel()));
  }
  return {{"input_ids", ids}, {"labels", labels}};
}

std::string_view line_at(std::string_view text, size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

JsonLinesDataset::JsonLinesDataset(std::string path, JsonLinesOptions options)
    : path_(std::move(path)), options_(options), file_(MappedFile::open(path_)) {
  find_lines();
  if (begins_.empty()) throw Error(fmt::format("{} has no examples: give it a line for each", path_));
}

void JsonLinesDataset::find_lines() {
  const std::string_view all = text();
  for (size_t begin = 0; begin < all.size();) {
    const std::string_view found = line_at(all, begin);
    if (!is_blank(found)) {
      begins_.push_back(static_cast<int64_t>(begin));
      if (options_.check_when_opened) lengths_.push_back(get(size() - 1)["input_ids"].numel());
    }
    begin += found.size() + 1;
    file_->note_read(found.size());
  }
}

std::string_view JsonLinesDataset::text() const {
  const auto bytes = file_->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view JsonLinesDataset::line(int64_t index) const {
  return line_at(text(), static_cast<size_t>(begins_[static_cast<size_t>(index)]));
}

Batch JsonLinesDataset::get(int64_t index) const {
  try {
    const std::string_view found = line(index);
    file_->note_read(found.size());
    return parse_example(found, options_);
  } catch (const Error& error) {
    const auto before = text().substr(0, static_cast<size_t>(begins_[static_cast<size_t>(index)]));
    throw Error(fmt::format("{} line {}: {}", path_, 1 + std::ranges::count(before, '\n'), error.what()));
  }
}

std::optional<int64_t> JsonLinesDataset::length(int64_t index) const {
  if (options_.check_when_opened) return lengths_[static_cast<size_t>(index)];
  return get(index)["input_ids"].numel();
}

}  // namespace lope
