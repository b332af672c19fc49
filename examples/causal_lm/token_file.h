#pragma once
// A file that is nothing but tokens, cut into blocks. It is mapped, not read: it may be larger than the memory.
//
//   TokenFile<uint16_t> data("train.bin", {.vocab_size = 50257, .block_size = 1024});

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data.h"
#include "lope/mapped_file.h"

/// Example i is block i. The last block may be shorter; it is left out when it is a single token, which predicts
/// nothing.
template <typename Token>
class TokenFile : public lope::Dataset {
 public:
  TokenFile(const std::string& path, const DataLimits& limits);

  int64_t size() const override;
  lope::Batch get(int64_t index) const override;
  /// Pads the last block of the file on the right, with labels of -100. Attention is causal, so that changes nothing.
  std::optional<lope::Batch> get_batch(std::span<const int64_t> indices) const override;

 private:
  std::span<const Token> block(int64_t index) const;

  std::shared_ptr<const lope::MappedFile> file_;
  std::span<const Token> tokens_;
  int64_t block_size_;
};

extern template class TokenFile<uint8_t>;
extern template class TokenFile<uint16_t>;
