#pragma once
// Hidden names beside a checkpoint: for one that is being written, and for one that is being removed.

#include <filesystem>
#include <string>

namespace lope {

/// ".checkpoint-500.PID-N.tmp" in the same folder; another one at each call.
std::filesystem::path hidden_checkpoint_name(const std::filesystem::path& folder);

/// Whether `name` is such a name of a process that does not live any more.
bool is_left_behind(const std::string& name);

}  // namespace lope
