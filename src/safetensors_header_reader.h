#pragma once
// Turns the events of the JSON parser into a header. The object is never built as a tree: nesting is refused at the
// third level, so a header can ask for no more than its own size.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lope/safetensors_header.h"

namespace lope::safetensors {

/// `text` for one line of a message: in quotes, short, without control characters.
std::string in_quotes(std::string_view text);

/// A handler for nlohmann's sax_parse; throws Error at the first event that the format does not have.
class HeaderReader {
 public:
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool key(std::string& name);
  bool string(std::string& value);
  bool number_unsigned(std::uint64_t value);

  bool number_integer(std::int64_t) { misplaced("a negative number"); }
  bool number_float(double, const std::string&) { misplaced("a number that is no 64-bit integer"); }
  bool null() { misplaced("null"); }
  bool boolean(bool) { misplaced("true or false"); }
  bool binary(std::vector<std::uint8_t>&) { misplaced("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&);

  /// The entries (offsets still counted from the start of the data) in the order of the text.
  SafetensorsHeader take() { return std::move(header_); }

 private:
  enum class Place { kOutside, kTop, kMetadata, kTensor, kShape, kOffsets };

  [[noreturn]] void misplaced(std::string_view what) const;
  void end_tensor() const;
  void push_dimension(std::uint64_t value);
  void push_offset(std::uint64_t value);

  SafetensorsHeader header_;
  Place place_ = Place::kOutside;
  std::unordered_set<std::string> names_;   // the keys of the outer object
  std::unordered_set<std::string> fields_;  // the keys of the open inner object
  std::string key_;                         // the last key
  std::size_t offsets_ = 0;                 // how many of the open data_offsets were read
};

}  // namespace lope::safetensors
