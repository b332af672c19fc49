#pragma once
// Good files made bad, the same ones for the same seed.
//
//   std::string input = fuzz::Mutator(seed).mutate(format);

#include <cstdint>
#include <random>
#include <string>

#include "formats.h"

namespace fuzz {

inline constexpr std::size_t kMostInput = 1 << 18;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// A seed of the format after one to eight changes; at most kMostInput bytes.
  std::string mutate(const Format& format);

 private:
  std::size_t below(std::size_t limit);  ///< 0 where limit is 0
  void change(std::string& text, const Format& format);
  void flip_bit(std::string& text);
  void cut_end(std::string& text);
  void cut_out(std::string& text);
  void insert_noise(std::string& text);
  void insert_word(std::string& text);
  void repeat_part(std::string& text);
  void splice(std::string& text, const Format& format);
  void edit_number(std::string& text);
  void nest(std::string& text);
  void edit_length(std::string& text);

  std::mt19937_64 random_;
};

}  // namespace fuzz
