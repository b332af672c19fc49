#pragma once
// What reads bytes from files that anyone may have written, each as one function of the bytes.
//
//   for (const fuzz::Format& format : fuzz::formats()) format.read(bytes);   // returns, or throws lope::Error

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// The header, and a sum over every byte of every tensor where the header is good.
void fuzz_safetensors(std::span<const std::byte> bytes);
void fuzz_manifest(std::span<const std::byte> bytes);
void fuzz_run_position(std::span<const std::byte> bytes);
void fuzz_trainer_state(std::span<const std::byte> bytes);
void fuzz_arguments(std::span<const std::byte> bytes);

struct Format {
  std::string_view name;
  void (*read)(std::span<const std::byte>);
  bool has_length = false;         ///< begins with 8 bytes that count a header
  std::vector<std::string> seeds;  ///< good files, to change
};

const std::vector<Format>& formats();

}  // namespace fuzz
