#include "lope/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "lope/checkpoint_folder.h"
#include "lope/error.h"

namespace lope {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";

std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const begin = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size();
  int64_t step = 0;
  const auto [stop, error] = std::from_chars(begin, end, step);
  const bool canonical =
      error == std::errc() && stop == end && step >= 0 && std::to_string(step).size() == name.size() - kPrefix.size();
  return canonical ? std::optional(step) : std::nullopt;
}

/// Why this checkpoint will not do, or nothing.
std::string fault(const std::filesystem::path& folder, const std::vector<std::string>& needed) {
  if (const auto damage = find_damage(folder)) return fmt::format("{}: {}", damage->file, damage->reason);
  for (const std::string& file : needed) {
    if (!std::filesystem::exists(folder / file)) return fmt::format("it has no {} (as with save_only_model)", file);
  }
  return {};
}

}  // namespace

std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& output_dir) {
  std::vector<CheckpointEntry> entries;
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(output_dir, error)) {
    const auto step = step_of(item.path().filename().string());
    if (step && item.is_directory(error)) entries.push_back({*step, item.path()});
  }
  std::ranges::sort(entries, {}, &CheckpointEntry::step);
  return entries;
}

FoundCheckpoint find_newest_checkpoint(const std::filesystem::path& output_dir,
                                       const std::vector<std::string>& needed) {
  FoundCheckpoint found;
  std::vector<CheckpointEntry> entries = list_checkpoints(output_dir);
  for (; !entries.empty(); entries.pop_back()) {
    const std::filesystem::path& folder = entries.back().folder;
    const std::string reason = fault(folder, needed);
    if (reason.empty()) {
      found.folder = folder;
      return found;
    }
    found.passed_over.push_back(fmt::format("{} is passed over: {}", folder.string(), reason));
  }
  return found;
}

void rotate_checkpoints(const std::filesystem::path& output_dir, int64_t limit,
                        const std::vector<std::filesystem::path>& kept) {
  const std::vector<CheckpointEntry> entries = list_checkpoints(output_dir);
  auto surplus = static_cast<int64_t>(entries.size()) - limit;
  for (const CheckpointEntry& entry : entries) {
    if (surplus <= 0 || &entry == &entries.back()) return;
    if (std::ranges::find(kept, entry.folder) != kept.end()) continue;
    remove_checkpoint(entry.folder);
    --surplus;
  }
}

}  // namespace lope
