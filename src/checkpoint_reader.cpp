#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "checksum.h"
#include "lope/checkpoint_folder.h"
#include "lope/error.h"
#include "lope/mapped_file.h"
#include "manifest.h"

namespace lope {
namespace {

std::string whole_text(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path.string());
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

std::optional<std::string> fault(const std::filesystem::path& path, const ManifestEntry& entry) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error)))
    return "it is missing or no file";
  try {
    const auto file = MappedFile::open(path.string());
    const auto bytes = file->bytes();
    if (bytes.size() != entry.bytes) {
      return fmt::format("it has {} bytes, the manifest says {}", bytes.size(), entry.bytes);
    }
    const std::uint64_t found = checksum_of(bytes);
    if (found == entry.checksum) return std::nullopt;
    return fmt::format("its checksum is {}, the manifest says {}", checksum_text(found), checksum_text(entry.checksum));
  } catch (const Error& unreadable) {
    return unreadable.what();
  }
}

/// Fills `manifest` as it goes.
std::optional<CheckpointDamage> check(const std::filesystem::path& folder, Manifest& manifest) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / kManifestName, error))) {
    return CheckpointDamage{kManifestName, "it is missing: the folder is not a whole checkpoint"};
  }
  try {
    manifest = parse_manifest(whole_text(folder / kManifestName));
  } catch (const Error& unreadable) {
    return CheckpointDamage{kManifestName, unreadable.what()};
  }
  for (const auto& [name, entry] : manifest) {
    if (const auto reason = fault(folder / name, entry)) return CheckpointDamage{name, *reason};
  }
  return std::nullopt;
}

}  // namespace

std::optional<CheckpointDamage> find_damage(const std::filesystem::path& folder) {
  Manifest manifest;
  return check(folder, manifest);
}

CheckpointReader::CheckpointReader(std::filesystem::path folder) : folder_(std::move(folder)) {
  Manifest manifest;
  if (const auto damage = check(folder_, manifest)) {
    throw Error(
        fmt::format("checkpoint {}: {}: {}; use an earlier one", folder_.string(), damage->file, damage->reason));
  }
  for (const auto& [name, entry] : manifest) sizes_.emplace(name, entry.bytes);
}

std::string CheckpointReader::text(const std::string& name) const { return whole_text(path_of(name)); }

TensorMap CheckpointReader::tensors(const std::string& name) const { return SafetensorsFile(path_of(name)).tensors(); }

std::string CheckpointReader::path_of(const std::string& name) const {
  if (!sizes_.contains(name)) throw Error(fmt::format("checkpoint {} has no file {}", folder_.string(), name));
  return (folder_ / name).string();
}

}  // namespace lope
