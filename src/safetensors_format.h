#pragma once
// What the safetensors format allows: dtypes by name, the size of a header.

#include <c10/core/ScalarType.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lope::safetensors {

inline constexpr std::size_t kMostHeaderBytes = 100'000'000;  // the reference implementation's limit

inline constexpr std::array<std::pair<std::string_view, c10::ScalarType>, 17> kDtypes{{
    {"F64", c10::ScalarType::Double},
    {"F32", c10::ScalarType::Float},
    {"F16", c10::ScalarType::Half},
    {"BF16", c10::ScalarType::BFloat16},
    {"I64", c10::ScalarType::Long},
    {"I32", c10::ScalarType::Int},
    {"I16", c10::ScalarType::Short},
    {"I8", c10::ScalarType::Char},
    {"U64", c10::ScalarType::UInt64},
    {"U32", c10::ScalarType::UInt32},
    {"U16", c10::ScalarType::UInt16},
    {"U8", c10::ScalarType::Byte},
    {"BOOL", c10::ScalarType::Bool},
    {"F8_E4M3", c10::ScalarType::Float8_e4m3fn},
    {"F8_E5M2", c10::ScalarType::Float8_e5m2},
    {"F8_E8M0", c10::ScalarType::Float8_e8m0fnu},
    {"C64", c10::ScalarType::ComplexFloat},
}};

inline std::optional<c10::ScalarType> dtype_of(std::string_view name) {
  for (const auto& [known, dtype] : kDtypes) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

/// Empty when the format has no such dtype.
inline std::string_view name_of(c10::ScalarType dtype) {
  for (const auto& [name, known] : kDtypes) {
    if (known == dtype) return name;
  }
  return {};
}

inline std::string dtype_names() {
  std::string names;
  for (const auto& [name, dtype] : kDtypes) names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

}  // namespace lope::safetensors
