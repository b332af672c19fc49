#include "safetensors_header_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lope/error.h"
#include "safetensors_format.h"

namespace lope::safetensors {
namespace {

constexpr std::size_t kMostQuoted = 120;

bool is_field(std::string_view name) { return name == "dtype" || name == "shape" || name == "data_offsets"; }

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string shown(text.substr(0, kMostQuoted));
  std::ranges::replace_if(shown, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return fmt::format("\"{}{}\"", shown, text.size() > kMostQuoted ? "..." : "");
}

bool HeaderReader::start_object(std::size_t) {
  fields_.clear();
  if (place_ == Place::kOutside) {
    place_ = Place::kTop;
  } else if (place_ != Place::kTop) {
    misplaced("an object");
  } else if (key_ == "__metadata__") {
    place_ = Place::kMetadata;
  } else {
    place_ = Place::kTensor;
    header_.entries.emplace_back().name = key_;
  }
  return true;
}

bool HeaderReader::end_object() {
  if (place_ == Place::kTensor) end_tensor();
  place_ = place_ == Place::kTop ? Place::kOutside : Place::kTop;
  return true;
}

void HeaderReader::end_tensor() const {
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    if (fields_.contains(field)) continue;
    throw Error(fmt::format("tensor {} has no {} in the header", in_quotes(header_.entries.back().name), field));
  }
}

bool HeaderReader::start_array(std::size_t) {
  if (place_ == Place::kTensor && key_ == "shape") {
    place_ = Place::kShape;
  } else if (place_ == Place::kTensor && key_ == "data_offsets") {
    place_ = Place::kOffsets;
    offsets_ = 0;
  } else {
    misplaced("a list");
  }
  return true;
}

bool HeaderReader::end_array() {
  if (place_ == Place::kOffsets && offsets_ != 2) misplaced("a list that is not [begin, end]");
  place_ = Place::kTensor;
  return true;
}

bool HeaderReader::key(std::string& name) {
  const bool inner = place_ != Place::kTop;
  if (place_ == Place::kTensor && !is_field(name)) {
    throw Error(
        fmt::format("tensor {} has an unknown field {} in the header; the format has dtype, shape, data_offsets",
                    in_quotes(header_.entries.back().name), in_quotes(name)));
  }
  if (!(inner ? fields_ : names_).insert(name).second) {
    throw Error(fmt::format("its header has {} twice", in_quotes(name)));
  }
  key_ = name;
  return true;
}

bool HeaderReader::string(std::string& value) {
  if (place_ == Place::kMetadata) {
    header_.metadata[key_] = value;
    return true;
  }
  if (place_ != Place::kTensor || key_ != "dtype") misplaced("a text");
  const auto dtype = dtype_of(value);
  SafetensorsEntry& entry = header_.entries.back();
  if (!dtype) {
    throw Error(fmt::format("tensor {} has dtype {}, but only these can be read: {}", in_quotes(entry.name),
                            in_quotes(value), dtype_names()));
  }
  entry.dtype = *dtype;
  return true;
}

bool HeaderReader::number_unsigned(std::uint64_t value) {
  if (place_ == Place::kShape) {
    push_dimension(value);
  } else if (place_ == Place::kOffsets) {
    push_offset(value);
  } else {
    misplaced("a number");
  }
  return true;
}

void HeaderReader::push_dimension(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    misplaced("a number above 2^63 - 1");
  header_.entries.back().shape.push_back(static_cast<std::int64_t>(value));
}

void HeaderReader::push_offset(std::uint64_t value) {
  if (offsets_ == 2) misplaced("a third number");
  SafetensorsEntry& entry = header_.entries.back();
  (offsets_++ == 0 ? entry.begin : entry.end) = static_cast<std::size_t>(value);
}

bool HeaderReader::parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
  throw Error(fmt::format("its header is not JSON in UTF-8: byte {} is wrong", position));
}

void HeaderReader::misplaced(std::string_view what) const {
  if (place_ == Place::kOutside || place_ == Place::kTop || place_ == Place::kMetadata) {
    throw Error(fmt::format("its header has {} as the value of {}", what, in_quotes(key_)));
  }
  throw Error(fmt::format("tensor {} has {} in its {}", in_quotes(header_.entries.back().name), what, in_quotes(key_)));
}

}  // namespace lope::safetensors
