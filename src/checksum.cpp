#include "checksum.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL  // nothing to link for those who use the library
#include <xxhash.h>

namespace lope {

struct Checksum::State {
  XXH3_state_t hash;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }

Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size()); }

std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->hash); }

std::uint64_t checksum_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string checksum_text(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace lope
