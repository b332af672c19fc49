#include "data.h"

#include <fmt/format.h>

#include <filesystem>

#include "lope/error.h"
#include "lope/json_lines_dataset.h"
#include "lope/token_dataset.h"

namespace {

std::unique_ptr<lope::Dataset> open_tokens(const std::string& path, lope::TokenType type, const DataLimits& limits) {
  return std::make_unique<lope::TokenDataset>(
      path, lope::TokenOptions{.type = type, .block_size = limits.block_size, .vocab_size = limits.vocab_size});
}

}  // namespace

std::unique_ptr<lope::Dataset> open_data(const std::string& path, const DataLimits& limits) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".txt") return open_tokens(path, lope::TokenType::kUInt8, limits);
  if (ending == ".bin") return open_tokens(path, lope::TokenType::kUInt16, limits);
  if (ending == ".jsonl") {
    return std::make_unique<lope::JsonLinesDataset>(
        path, lope::JsonLinesOptions{.vocab_size = limits.vocab_size, .n_positions = limits.n_positions});
  }
  throw lope::Error(fmt::format("{} has an unknown kind: its name must end in .txt, .jsonl or .bin", path));
}
