#include "manifest.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "checksum.h"
#include "json_fields.h"
#include "lope/error.h"
#include "python_json.h"

namespace lope {
namespace {

constexpr std::string_view kFormat = "lope-checkpoint";
constexpr std::int64_t kVersion = 1;
constexpr int kHexadecimal = 16;
constexpr std::size_t kMostBytes = 1 << 20;

nlohmann::json to_json(const Manifest& manifest) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [name, entry] : manifest) {
    files[name] = {{"bytes", entry.bytes}, {"xxh3_64", checksum_text(entry.checksum)}};
  }
  return {{"format", kFormat}, {"version", kVersion}, {"files", std::move(files)}};
}

/// UTF-8, without the letter that ends a name for the system.
bool is_json_text(std::string_view text) {
  const auto quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
  return nlohmann::json::parse(quoted) == text && text.find('\0') == std::string_view::npos;
}

std::string own_checksum(const nlohmann::json& without) {
  const std::string text = without.dump(2);
  return checksum_text(checksum_of(std::as_bytes(std::span(text))));
}

ManifestEntry read_entry(const Json& json) {
  std::int64_t bytes = -1;
  std::string text;
  need_field(json, "bytes", kManifestName);
  need_field(json, "xxh3_64", kManifestName);
  read_field(json, "bytes", bytes);
  read_field(json, "xxh3_64", text);
  ManifestEntry entry{.bytes = static_cast<std::uint64_t>(bytes)};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), entry.checksum, kHexadecimal);
  if (bytes < 0 || error != std::errc() || end != text.data() + text.size())
    throw Error("it has a file without a size or a checksum");
  return entry;
}

Manifest read(const Json& json) {
  std::int64_t version = 0;
  need_field(json, "version", kManifestName);
  read_field(json, "version", version);
  if (version != kVersion) {
    throw Error("its version is " + std::to_string(version) + ", this library reads " + std::to_string(kVersion));
  }
  Manifest manifest;
  const Json& files = need_field(json, "files", kManifestName);
  if (!files.is_object()) refuse_field("files", files, "an object");
  for (const auto& [name, entry] : files.items()) {
    if (!is_checkpoint_file_name(name)) throw Error("it names a file with a folder");
    manifest.emplace(name, read_entry(entry));
  }
  return manifest;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  nlohmann::json json = to_json(manifest);
  json["xxh3_64"] = own_checksum(json);
  return json.dump(2) + "\n";
}

Manifest parse_manifest(std::string_view text) {
  if (text.size() > kMostBytes) throw Error("it is larger than any manifest");
  const Manifest manifest = read(parse_python_json(text));
  // Compared as a whole, so that no change of a letter goes unseen, not even one that says the same.
  if (manifest_text(manifest) != text) throw Error("its checksum is not that of its text");
  return manifest;
}

bool is_checkpoint_file_name(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != ".." &&
         name != kManifestName && is_json_text(name);
}

}  // namespace lope
