#pragma once
// Hidden names beside a checkpoint: for one that is being written or removed (.tmp), and for one that is being replaced
// (.old).

#include <filesystem>
#include <string>

namespace lope {

/// ".checkpoint-500.PID-N.tmp" in the same folder; a free one at each call.
std::filesystem::path hidden_checkpoint_name(const std::filesystem::path& folder);

/// Gives `folder`, which there is, the content of `temporary`, for file systems that cannot exchange two names: moves
/// the old one to ".checkpoint-500.PID-N.old", the new one to its place, and removes the old one. Where a crash leaves
/// the name free, `remove_unfinished` moves the old one back. Throws std::filesystem::filesystem_error; then the old
/// one is in its place.
void replace_in_steps(const std::filesystem::path& temporary, const std::filesystem::path& folder);

}  // namespace lope
