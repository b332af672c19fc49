#include "lope/token_dataset.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>

#include "lope/error.h"

namespace lope {
namespace {

constexpr int64_t kIgnored = -100;

int64_t bytes_per_token(TokenType type) {
  switch (type) {
    case TokenType::kUInt8:
      return 1;
    case TokenType::kUInt16:
      return 2;
    case TokenType::kUInt32:
      return 4;
  }
  throw Error("token type: it must be kUInt8, kUInt16 or kUInt32");
}

/// Calls `use` with the tokens [begin, begin + count) as a span of their type.
template <typename Use>
auto with_tokens(const MappedFile& file, TokenType type, int64_t begin, int64_t count, const Use& use) {
  const auto span = [&]<typename Token>(const Token* tokens) {
    return use(std::span(tokens + begin, static_cast<size_t>(count)));
  };
  const auto* bytes = file.bytes().data();
  if (type == TokenType::kUInt8) return span(reinterpret_cast<const uint8_t*>(bytes));
  if (type == TokenType::kUInt16) return span(reinterpret_cast<const uint16_t*>(bytes));
  return span(reinterpret_cast<const uint32_t*>(bytes));
}

int64_t count_tokens(const std::string& path, size_t bytes, TokenType type) {
  const int64_t width = bytes_per_token(type);
  const auto size = static_cast<int64_t>(bytes);
  if (size % width != 0) {
    throw Error(fmt::format("{} has {} bytes: tokens of {} bytes do not fill it", path, size, width));
  }
  if (size / width < 2) throw Error(fmt::format("{} has {} tokens: at least 2 are needed", path, size / width));
  return size / width;
}

}  // namespace

TokenDataset::TokenDataset(std::string path, TokenOptions options) : path_(std::move(path)), options_(options) {
  if (options_.block_size < 1) throw Error(fmt::format("block_size is {}: it must be 1 or more", options_.block_size));
  if (options_.vocab_size < 0) {
    throw Error(fmt::format("vocab_size is {}: it must be 0 (nothing is checked) or more", options_.vocab_size));
  }
  file_ = MappedFile::open(path_);
  tokens_ = count_tokens(path_, file_->bytes().size(), options_.type);
  if (options_.vocab_size > 0) check();
}

void TokenDataset::check() const {
  constexpr int64_t kStep = 1 << 20;
  const auto is_wrong = [this](auto token) { return token >= options_.vocab_size; };
  for (int64_t begin = 0; begin < tokens_; begin += kStep) {
    const int64_t count = std::min(kStep, tokens_ - begin);
    with_tokens(*file_, options_.type, begin, count, [&](auto tokens) {
      // The largest is found several times as fast as the first that is wrong.
      if (!is_wrong(std::ranges::max(tokens))) return;
      const auto wrong = std::ranges::find_if(tokens, is_wrong);
      throw Error(fmt::format("{}: token {} at position {} is beyond the model's vocab_size of {}", path_, *wrong,
                              begin + (wrong - tokens.begin()), options_.vocab_size));
    });
    file_->note_read(static_cast<size_t>(count * bytes_per_token(options_.type)));
  }
}

int64_t TokenDataset::size() const {
  return tokens_ / options_.block_size + (tokens_ % options_.block_size > 1 ? 1 : 0);
}

std::optional<int64_t> TokenDataset::length(int64_t index) const {
  return std::min(options_.block_size, tokens_ - index * options_.block_size);
}

void TokenDataset::copy_block(int64_t index, int64_t* to) const {
  const int64_t count = *length(index);
  with_tokens(*file_, options_.type, index * options_.block_size, count,
              [to](auto tokens) { std::ranges::copy(tokens, to); });
  file_->note_read(static_cast<size_t>(count * bytes_per_token(options_.type)));
}

Batch TokenDataset::get(int64_t index) const {
  const at::Tensor ids = at::empty({*length(index)}, at::kLong);
  copy_block(index, ids.mutable_data_ptr<int64_t>());
  return {{"input_ids", ids}, {"labels", ids}};
}

std::optional<Batch> TokenDataset::get_batch(std::span<const int64_t> indices) const {
  const auto rows = static_cast<int64_t>(indices.size());
  const at::Tensor ids = at::empty({rows, options_.block_size}, at::kLong);
  auto* to = ids.mutable_data_ptr<int64_t>();
  for (const int64_t index : indices) {
    copy_block(index, to);
    to += options_.block_size;
  }
  const auto is_short = [this](int64_t index) { return *length(index) < options_.block_size; };
  const at::Tensor labels = std::ranges::any_of(indices, is_short) ? ids.clone() : ids;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t filled = *length(indices[static_cast<size_t>(row)]);
    if (filled == options_.block_size) continue;
    ids[row].slice(0, filled).fill_(0);
    labels[row].slice(0, filled).fill_(kIgnored);
  }
  return Batch{{"input_ids", ids}, {"labels", labels}};
}

}  // namespace lope
