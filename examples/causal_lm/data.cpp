#include "data.h"

#include <fmt/format.h>

#include <filesystem>

#include "jsonl_data.h"
#include "lope/error.h"
#include "token_file.h"

std::unique_ptr<lope::Dataset> open_data(const std::string& path, const DataLimits& limits) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".txt") return std::make_unique<TokenFile<uint8_t>>(path, limits);
  if (ending == ".bin") return std::make_unique<TokenFile<uint16_t>>(path, limits);
  if (ending == ".jsonl") return std::make_unique<JsonlData>(path, limits);
  throw lope::Error(fmt::format("{} has an unknown kind: its name must end in .txt, .jsonl or .bin", path));
}
