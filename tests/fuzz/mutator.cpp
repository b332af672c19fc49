#include "mutator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace fuzz {
namespace {

constexpr std::array<std::string_view, 24> kWords{
    "{",           "}",    "[",         "]",    ",",    ":",  "\"", "\\", "\\u0000", "\\ud800",
    "\\u0001NaN",  "NaN",  "-Infinity", "null", "true", "{}", "[]", "-1", "1e999",   "__metadata__",
    "\"shape\":[", "\xff", "\xc3\x28",  "\n"};

constexpr std::array<std::string_view, 12> kNumbers{"0",
                                                    "1",
                                                    "-1",
                                                    "0.5",
                                                    "1e308",
                                                    "-0.0",
                                                    "2147483648",
                                                    "4294967295",
                                                    "9223372036854775807",
                                                    "9223372036854775808",
                                                    "18446744073709551615",
                                                    "18446744073709551616"};

constexpr std::array<std::uint64_t, 8> kLengths{0,         1, 7, 99'999'999, 100'000'000, 0x7fffffff, UINT64_C(1) << 63,
                                                UINT64_MAX};

constexpr std::string_view kDigits = "0123456789";

void add_to_length(std::string& text, std::uint64_t change) {
  std::uint64_t length = 0;
  if (text.size() < sizeof length) return;
  std::memcpy(&length, text.data(), sizeof length);
  length += change;
  std::memcpy(text.data(), &length, sizeof length);
}

}  // namespace

std::size_t Mutator::below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

std::string Mutator::mutate(const Format& format) {
  std::string text = format.seeds[below(format.seeds.size())];
  for (std::size_t changes = 1 + below(1 + below(8)); changes > 0; --changes) {
    const std::size_t before = text.size();
    change(text, format);
    // Most of the time the header stays as long as it says, so that what is in it is read.
    if (format.has_length && below(4) != 0) add_to_length(text, text.size() - before);
  }
  if (text.size() > kMostInput) text.resize(kMostInput);
  return text;
}

void Mutator::change(std::string& text, const Format& format) {
  switch (below(format.has_length ? 10 : 9)) {
    case 0:
      return flip_bit(text);
    case 1:
      return cut_end(text);
    case 2:
      return cut_out(text);
    case 3:
      return insert_noise(text);
    case 4:
      return insert_word(text);
    case 5:
      return repeat_part(text);
    case 6:
      return splice(text, format);
    case 7:
      return edit_number(text);
    case 8:
      return nest(text);
    default:
      return edit_length(text);
  }
}

void Mutator::flip_bit(std::string& text) {
  if (text.empty()) return;
  char& letter = text[below(text.size())];
  letter = static_cast<char>(static_cast<unsigned char>(letter) ^ (1U << below(8)));
}

void Mutator::cut_end(std::string& text) { text.resize(text.size() - below(std::min<std::size_t>(text.size(), 32))); }

void Mutator::cut_out(std::string& text) { text.erase(below(text.size()), 1 + below(16)); }

void Mutator::insert_noise(std::string& text) {
  std::string noise(1 + below(16), '\0');
  for (char& letter : noise) letter = static_cast<char>(below(256));
  text.insert(below(text.size() + 1), noise);
}

void Mutator::insert_word(std::string& text) { text.insert(below(text.size() + 1), kWords[below(kWords.size())]); }

void Mutator::repeat_part(std::string& text) {
  const std::string part = text.substr(below(text.size()), 1 + below(64));
  const std::size_t times = below(64) == 0 ? below(1000) : below(4);
  std::string copies;
  for (std::size_t i = 0; i < times; ++i) copies += part;
  text.insert(below(text.size() + 1), copies);
}

void Mutator::splice(std::string& text, const Format& format) {
  const std::string& other = format.seeds[below(format.seeds.size())];
  text = text.substr(0, below(text.size() + 1)) + other.substr(below(other.size() + 1));
}

void Mutator::edit_number(std::string& text) {
  const std::size_t begin = text.find_first_of(kDigits, below(text.size()));
  if (begin == std::string::npos) return;
  const std::size_t end = std::min(text.find_first_not_of(kDigits, begin), text.size());
  text.replace(begin, end - begin, kNumbers[below(kNumbers.size())]);
}

/// Rarely as deep as would overflow the stack of a reader that calls itself.
void Mutator::nest(std::string& text) {
  const std::size_t depth = below(256) == 0 ? below(kMostInput / 2) : below(120);
  const std::size_t place = text.find_first_of(":[", below(text.size()));
  if (place == std::string::npos) return;
  std::string levels;
  const std::string_view open = below(2) == 0 ? "[" : "{\"\":";
  for (std::size_t i = 0; i < depth; ++i) levels += open;
  levels += '0';
  levels.append(depth, open == "[" ? ']' : '}');
  const bool whole_value = below(2) == 0;  // else one that is too many
  const std::size_t end = std::min(text.find_first_of(",}]\n", place + 1), text.size());
  text.replace(place + 1, whole_value ? end - place - 1 : 0, levels);
}

void Mutator::edit_length(std::string& text) {
  if (text.size() < sizeof(std::uint64_t)) return;
  if (below(2) == 0) return add_to_length(text, below(33) - 16);
  std::memcpy(text.data(), &kLengths[below(kLengths.size())], sizeof(std::uint64_t));
}

}  // namespace fuzz
