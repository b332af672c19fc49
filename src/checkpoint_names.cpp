#include "checkpoint_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lope/checkpoint_folder.h"
#include "lope/error.h"

namespace lope {
namespace {

constexpr std::string_view kUnfinished = ".tmp";
constexpr std::string_view kReplaced = ".old";

/// How many names this process has given. What bears its number and a higher count was left by an earlier process of
/// the same number, as in a container that is started again.
std::atomic<int64_t> given{0};

std::filesystem::path hidden_name(const std::filesystem::path& folder, std::string_view end) {
  std::error_code error;
  std::filesystem::path path;
  do {
    path = folder.parent_path() / fmt::format(".{}.{}-{}{}", folder.filename().string(), ::getpid(), given++, end);
  } while (std::filesystem::exists(std::filesystem::symlink_status(path, error)));
  return path;
}

/// The whole number that all of `text` is, or -1.
int64_t number(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

bool lives(pid_t process, int64_t count) {
  if (process == ::getpid()) return count < given;
  return ::kill(process, 0) == 0 || errno != ESRCH;
}

struct HiddenName {
  std::string folder;  ///< "checkpoint-500"
  bool replaced;
};

/// What `name` says, if it is a hidden name of a process that does not live any more.
std::optional<HiddenName> left_behind(std::string_view name) {
  const bool replaced = name.ends_with(kReplaced);
  if (!name.starts_with('.') || (!replaced && !name.ends_with(kUnfinished))) return std::nullopt;
  name = name.substr(1, name.size() - 1 - kReplaced.size());
  const std::size_t dot = name.rfind('.');
  const std::size_t dash = name.rfind('-');
  if (dot == 0 || dot == std::string_view::npos || dash == std::string_view::npos || dash < dot) return std::nullopt;
  const int64_t process = number(name.substr(dot + 1, dash - dot - 1));
  const int64_t count = number(name.substr(dash + 1));
  if (process <= 0 || count < 0 || lives(static_cast<pid_t>(process), count)) return std::nullopt;
  return HiddenName{.folder = std::string(name.substr(0, dot)), .replaced = replaced};
}

void clean_away(const std::filesystem::path& hidden, const HiddenName& name) {
  std::error_code error;
  const std::filesystem::path folder = hidden.parent_path() / name.folder;
  if (name.replaced && !std::filesystem::exists(std::filesystem::symlink_status(folder, error))) {
    std::filesystem::rename(hidden, folder, error);
  } else {
    std::filesystem::remove_all(hidden, error);
  }
}

}  // namespace

std::filesystem::path hidden_checkpoint_name(const std::filesystem::path& folder) {
  return hidden_name(folder.has_filename() ? folder : folder.parent_path(), kUnfinished);
}

void replace_in_steps(const std::filesystem::path& temporary, const std::filesystem::path& folder) {
  const std::filesystem::path old = hidden_name(folder, kReplaced);
  std::filesystem::rename(folder, old);
  try {
    std::filesystem::rename(temporary, folder);
  } catch (const std::filesystem::filesystem_error&) {
    std::filesystem::rename(old, folder);
    throw;
  }
  std::error_code ignored;  // the new one is in place; what is left of the old one goes with the next clean-up
  std::filesystem::remove_all(old, ignored);
}

void remove_unfinished(const std::filesystem::path& parent) {
  std::error_code error;
  std::vector<std::pair<std::filesystem::path, HiddenName>> left;
  for (const auto& item : std::filesystem::directory_iterator(parent, error)) {
    const auto name = left_behind(item.path().filename().string());
    if (name && std::filesystem::is_directory(item.symlink_status(error))) left.emplace_back(item.path(), *name);
  }
  for (const auto& [hidden, name] : left) clean_away(hidden, name);
}

void remove_checkpoint(const std::filesystem::path& folder) {
  const std::filesystem::path hidden = hidden_checkpoint_name(folder);
  std::error_code error;
  std::filesystem::rename(folder.has_filename() ? folder : folder.parent_path(), hidden, error);
  if (!error) std::filesystem::remove_all(hidden, error);
  if (error) throw Error(fmt::format("cannot remove {}: {}; remove it by hand", folder.string(), error.message()));
}

}  // namespace lope
