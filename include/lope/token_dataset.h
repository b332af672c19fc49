#pragma once
// A file that is nothing but tokens, cut into blocks. It is mapped, not read: it may be larger than the memory.
//
//   lope::TokenDataset data("train.bin", {.type = lope::TokenType::kUInt16, .block_size = 1024});

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "lope/dataset.h"
#include "lope/mapped_file.h"

namespace lope {

/// How a token is stored, little-endian. Bytes make any text a file of tokens.
enum class TokenType { kUInt8, kUInt16, kUInt32 };

struct TokenOptions {
  TokenType type = TokenType::kUInt16;
  /// Tokens of an example.
  int64_t block_size = 1024;
  /// Tokens are below it, which is checked when the file is opened, in one pass over it; 0 checks nothing.
  int64_t vocab_size = 0;
};

/// Example i is block i: "input_ids" and "labels" (block_size), int64 and the same tensor. The last block may be
/// shorter; it is left out when it is a single token, which predicts nothing.
class TokenDataset : public Dataset {
 public:
  /// Throws Error naming the file when it cannot be read, is not a whole number of tokens, has fewer than two, or has
  /// one beyond the vocabulary (with its position).
  explicit TokenDataset(std::string path, TokenOptions options = {});

  int64_t size() const override;
  Batch get(int64_t index) const override;
  /// (rows, block_size). The last block of the file is padded on the right with tokens 0 and labels -100: attention
  /// that is causal never sees that. Only then are "labels" a tensor of their own.
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override;
  std::optional<int64_t> length(int64_t index) const override;

  /// Tokens in the file.
  int64_t tokens() const { return tokens_; }

 private:
  /// Widens block `index` to `to`.
  void copy_block(int64_t index, int64_t* to) const;
  void check() const;

  std::string path_;
  TokenOptions options_;
  std::shared_ptr<const MappedFile> file_;
  int64_t tokens_ = 0;
};

}  // namespace lope
