#pragma once
// manifest.json: the files of a checkpoint, their sizes and checksums, and a checksum of itself.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace lope {

struct ManifestEntry {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH3, 64 bits
};

/// By file name.
using Manifest = std::map<std::string, ManifestEntry>;

inline constexpr const char* kManifestName = "manifest.json";

std::string manifest_text(const Manifest& manifest);

/// @throws Error with the reason when the text is not one that `manifest_text` wrote, letter for letter
Manifest parse_manifest(std::string_view text);

/// Whether a checkpoint may have a file of this name: one name without a folder, and not the manifest's.
bool is_checkpoint_file_name(std::string_view name);

}  // namespace lope
