#pragma once
// Text as examples for a language model: tensors `input_ids` and `labels`, which are the same tokens, or -100 where a
// token is not to be predicted.
//
//   auto data = open_data("train.jsonl", {.vocab_size = 256, .n_positions = 128, .block_size = 128});

#include <cstdint>
#include <memory>
#include <string>

#include "lope/dataset.h"

/// What the model allows and the user asks for.
struct DataLimits {
  int64_t vocab_size = 0;   ///< tokens are below it
  int64_t n_positions = 0;  ///< most tokens in an example of a .jsonl
  int64_t block_size = 0;   ///< tokens in an example that is cut from a .txt or .bin
};

/// By the file's ending: .txt (a byte is a token), .bin (uint16 tokens) or .jsonl (an example a line). Throws
/// lope::Error naming the file, and the line or position, when it is empty, damaged, or does not keep to the limits.
std::unique_ptr<lope::Dataset> open_data(const std::string& path, const DataLimits& limits);
