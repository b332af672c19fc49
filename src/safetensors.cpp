#include "lope/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lope/error.h"
#include "lope/mapped_file.h"
#include "safetensors_header_reader.h"

namespace lope {
namespace {

using safetensors::in_quotes;

bool only_zero_and_one(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte value) { return value <= std::byte{1}; });
}

bool aligned(const std::byte* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

at::Tensor copy(std::span<const std::byte> bytes, const SafetensorsEntry& entry) {
  at::Tensor result = at::empty(entry.shape, entry.dtype);
  if (!bytes.empty()) std::memcpy(result.mutable_data_ptr(), bytes.data(), bytes.size());
  return result;
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::string path)
    : path_(std::move(path)), file_(MappedFile::open(path_)), header_(parse_safetensors(file_->bytes(), path_)) {
  for (std::size_t i = 0; i < header_.entries.size(); ++i) index_.emplace(header_.entries[i].name, i);
}

at::Tensor SafetensorsFile::tensor(const std::string& name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) {
    throw Error(fmt::format("{} has no tensor {}; it has {} others", path_, in_quotes(name), index_.size()));
  }
  return view(header_.entries[found->second]);
}

TensorMap SafetensorsFile::tensors() const {
  TensorMap all;
  for (const SafetensorsEntry& entry : header_.entries) all.emplace(entry.name, view(entry));
  return all;
}

at::Tensor SafetensorsFile::view(const SafetensorsEntry& entry) const {
  const std::span<std::byte> bytes = file_->bytes().subspan(entry.begin, entry.size());
  if (entry.dtype == at::kBool && !only_zero_and_one(bytes)) {
    throw Error(fmt::format("cannot read {}: tensor {} is BOOL but has bytes other than 0 and 1", path_,
                            in_quotes(entry.name)));
  }
  if (!aligned(bytes.data(), c10::elementSize(entry.dtype))) return copy(bytes, entry);
  return at::from_blob(bytes.data(), entry.shape, [file = file_](void*) {}, at::TensorOptions(entry.dtype), at::kCPU);
}

}  // namespace lope
