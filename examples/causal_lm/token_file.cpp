#include "token_file.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>

#include "lope/error.h"

namespace {

constexpr int64_t kIgnored = -100;

template <typename Token>
std::span<const Token> as_tokens(const std::string& path, std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(Token) != 0) {
    throw lope::Error(
        fmt::format("{} has {} bytes: tokens of {} bytes do not fill it", path, bytes.size(), sizeof(Token)));
  }
  return {reinterpret_cast<const Token*>(bytes.data()), bytes.size() / sizeof(Token)};
}

template <typename Token>
void check(const std::string& path, std::span<const Token> tokens, const DataLimits& limits) {
  if (tokens.size() < 2) {
    throw lope::Error(fmt::format("{} has {} tokens: at least 2 are needed", path, tokens.size()));
  }
  const auto wrong = std::ranges::find_if(tokens, [&](Token token) { return token >= limits.vocab_size; });
  if (wrong == tokens.end()) return;
  throw lope::Error(fmt::format("{}: token {} at position {} is beyond the model's vocab_size of {}", path, *wrong,
                                wrong - tokens.begin(), limits.vocab_size));
}

}  // namespace

template <typename Token>
TokenFile<Token>::TokenFile(const std::string& path, const DataLimits& limits)
    : file_(lope::MappedFile::open(path)),
      tokens_(as_tokens<Token>(path, file_->bytes())),
      block_size_(limits.block_size) {
  check(path, tokens_, limits);
}

template <typename Token>
int64_t TokenFile<Token>::size() const {
  const auto tokens = static_cast<int64_t>(tokens_.size());
  return tokens / block_size_ + (tokens % block_size_ > 1 ? 1 : 0);
}

template <typename Token>
std::span<const Token> TokenFile<Token>::block(int64_t index) const {
  const auto begin = static_cast<size_t>(index * block_size_);
  return tokens_.subspan(begin, std::min(static_cast<size_t>(block_size_), tokens_.size() - begin));
}

template <typename Token>
lope::Batch TokenFile<Token>::get(int64_t index) const {
  const auto tokens = block(index);
  at::Tensor ids = at::zeros({static_cast<int64_t>(tokens.size())}, at::kLong);
  std::ranges::copy(tokens, ids.mutable_data_ptr<int64_t>());
  return {{"input_ids", ids}, {"labels", ids}};
}

template <typename Token>
std::optional<lope::Batch> TokenFile<Token>::get_batch(std::span<const int64_t> indices) const {
  const auto rows = static_cast<int64_t>(indices.size());
  at::Tensor ids = at::zeros({rows, block_size_}, at::kLong);
  at::Tensor labels = at::full({rows, block_size_}, kIgnored, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const auto tokens = block(indices[static_cast<size_t>(row)]);
    std::ranges::copy(tokens, ids.mutable_data_ptr<int64_t>() + row * block_size_);
    std::ranges::copy(tokens, labels.mutable_data_ptr<int64_t>() + row * block_size_);
  }
  return lope::Batch{{"input_ids", ids}, {"labels", labels}};
}

template class TokenFile<uint8_t>;
template class TokenFile<uint16_t>;
