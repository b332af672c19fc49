#include "python_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace lope {
namespace {

constexpr int kIndent = 2;

struct Literal {
  std::string_view written;
  std::string_view stand_in;  ///< a text that no file has
  double value;
};

constexpr std::array<Literal, 3> kLiterals{
    Literal{"NaN", "\x01NaN", std::numeric_limits<double>::quiet_NaN()},
    Literal{"-Infinity", "\x01-Infinity", -std::numeric_limits<double>::infinity()},
    Literal{"Infinity", "\x01Infinity", std::numeric_limits<double>::infinity()},
};

std::size_t end_of_string(std::string_view text, std::size_t start) {
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

// The literals become texts that the parser accepts, and turn into numbers again after it.
std::string with_stand_ins(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = text[i] == '"' ? end_of_string(text, i) : i + 1;
    std::string piece(text.substr(i, end - i));
    for (const Literal& literal : kLiterals) {
      if (!text.substr(i).starts_with(literal.written)) continue;
      piece = nlohmann::json(literal.stand_in).dump();
      end = i + literal.written.size();
    }
    result += piece;
    i = end;
  }
  return result;
}

void put_literals_back(Json& value) {
  if (value.is_structured()) {
    for (Json& item : value) put_literals_back(item);
    return;
  }
  for (const Literal& literal : kLiterals) {
    if (value.is_string() && value.get_ref<const std::string&>() == literal.stand_in) {
      value = literal.value;
      return;
    }
  }
}

void append(std::string& text, const nlohmann::json& value, int indent);

void append_items(std::string& text, const nlohmann::json& value, int indent) {
  const std::string line = "\n" + std::string(static_cast<std::size_t>(indent), ' ');
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    text.append(first ? "" : ",").append(line).append(kIndent, ' ');
    if (value.is_object()) text.append(python_string(key)).append(": ");
    append(text, item, indent + kIndent);
    first = false;
  }
  if (!first) text += line;
}

void append(std::string& text, const nlohmann::json& value, int indent) {
  if (value.is_structured()) {
    text += value.is_array() ? '[' : '{';
    append_items(text, value, indent);
    text += value.is_array() ? ']' : '}';
  } else if (value.is_number_float()) {
    text += python_number(value.get<double>());
  } else if (value.is_string()) {
    text += python_string(value.get_ref<const std::string&>());
  } else {
    text += value.dump();
  }
}

std::string number_text(double value, std::chars_format format) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  return {buffer.data(), end};
}

}  // namespace

Json parse_python_json(std::string_view text) {
  Json value = parse_json(with_stand_ins(text));
  put_literals_back(value);
  return value;
}

std::string to_python_json(const nlohmann::json& value) {
  std::string text;
  append(text, value, 0);
  return text;
}

// Python writes exponents from -4 to 15 out.
std::string python_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e16)) return number_text(value, std::chars_format::scientific);
  const std::string text = number_text(value, std::chars_format::fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string python_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace lope
