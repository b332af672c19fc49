#pragma once
// XXH3, 64 bits, of bytes that come in pieces. https://xxhash.com

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lope {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// 16 hexadecimal digits.
std::string checksum_text(std::uint64_t value);

}  // namespace lope
