#include "checkpoint_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <system_error>

#include "lope/checkpoint_folder.h"
#include "lope/error.h"

namespace lope {
namespace {

constexpr std::string_view kEnd = ".tmp";

/// The whole number that all of `text` is, or -1.
int64_t number(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

bool lives(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

std::filesystem::path hidden_checkpoint_name(const std::filesystem::path& folder) {
  static std::atomic<unsigned> count{0};
  return folder.parent_path() / fmt::format(".{}.{}-{}{}", folder.filename().string(), ::getpid(), count++, kEnd);
}

bool is_left_behind(const std::string& name) {
  std::string_view rest = name;
  if (!rest.starts_with('.') || !rest.ends_with(kEnd)) return false;
  rest.remove_suffix(kEnd.size());
  const std::size_t dot = rest.rfind('.');
  const std::size_t dash = rest.rfind('-');
  if (dot == 0 || dash == std::string_view::npos || dash < dot) return false;
  const int64_t process = number(rest.substr(dot + 1, dash - dot - 1));
  return process > 0 && number(rest.substr(dash + 1)) >= 0 && !lives(static_cast<pid_t>(process));
}

void remove_unfinished(const std::filesystem::path& parent) {
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (const auto& item : std::filesystem::directory_iterator(parent, error)) {
    if (is_left_behind(item.path().filename().string()) && item.is_directory(error)) left.push_back(item.path());
  }
  for (const auto& folder : left) std::filesystem::remove_all(folder, error);
}

void remove_checkpoint(const std::filesystem::path& folder) {
  const std::filesystem::path hidden = hidden_checkpoint_name(folder);
  std::error_code error;
  std::filesystem::rename(folder, hidden, error);
  if (!error) std::filesystem::remove_all(hidden, error);
  if (error) throw Error(fmt::format("cannot remove {}: {}; remove it by hand", folder.string(), error.message()));
}

}  // namespace lope
