#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "lope/atomic_file.h"
#include "lope/error.h"
#include "lope/safetensors.h"
#include "safetensors_format.h"
#include "safetensors_header_reader.h"
#include "safetensors_write.h"

namespace lope {
namespace {

using Named = const TensorMap::value_type*;

constexpr std::size_t kAlignment = 8;

/// Why `tensor` cannot be written, or nothing.
std::string fault(const std::string& name, const at::Tensor& tensor) {
  if (name == "__metadata__") return "this name is the format's own; give another";
  if (!tensor.defined()) return "it is undefined; leave it out";
  if (tensor.layout() != at::kStrided) return "it is sparse; call to_dense() first";
  if (safetensors::name_of(tensor.scalar_type()).empty()) {
    return fmt::format("the format has no dtype {}, only {}", c10::toString(tensor.scalar_type()),
                       safetensors::dtype_names());
  }
  return {};
}

void check(const TensorMap::value_type& named) {
  const std::string reason = fault(named.first, named.second);
  if (!reason.empty()) throw Error(fmt::format("tensor {}: {}", safetensors::in_quotes(named.first), reason));
}

/// Widest elements first, as the reference implementation does, so that each tensor is aligned to its dtype.
std::vector<Named> in_file_order(const TensorMap& tensors) {
  std::vector<Named> order;
  for (const auto& named : tensors) order.push_back(&named);
  std::ranges::stable_sort(order, std::greater{},
                           [](Named named) { return named->second.defined() ? named->second.element_size() : 0; });
  return order;
}

std::string json(const std::string& text) { return nlohmann::json(text).dump(); }

std::string describe(const Named& named, std::size_t begin) {
  const at::Tensor& tensor = named->second;
  return fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json(named->first),
                     safetensors::name_of(tensor.scalar_type()), fmt::join(tensor.sizes(), ","), begin,
                     begin + tensor.nbytes());
}

std::string header_text(const std::vector<Named>& order, const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> parts;
  if (!metadata.empty()) parts.push_back(fmt::format(R"("__metadata__":{})", nlohmann::json(metadata).dump()));
  std::size_t position = 0;
  for (const Named named : order) {
    parts.push_back(describe(named, position));
    position += named->second.nbytes();
  }
  std::string text = fmt::format("{{{}}}", fmt::join(parts, ","));
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() <= safetensors::kMostHeaderBytes) return text;
  throw Error(fmt::format("names and shapes need {} bytes, but at most {} are allowed; write several files",
                          text.size(), safetensors::kMostHeaderBytes));
}

void write_header(const ByteSink& sink, const std::string& text) {
  const std::uint64_t length = text.size();
  sink(std::as_bytes(std::span(&length, 1)));
  sink(std::as_bytes(std::span(text)));
}

void write_data(const ByteSink& sink, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().resolve_conj().resolve_neg().to(at::kCPU).contiguous();
  sink({static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()});
}

std::string checked_header(const std::string& path, const std::vector<Named>& order,
                           const std::map<std::string, std::string>& metadata) {
  try {
    for (const Named named : order) check(*named);
    return header_text(order, metadata);
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("cannot write {}: a name or the metadata is not UTF-8", path));
  } catch (const Error& error) {
    throw Error(fmt::format("cannot write {}: {}", path, error.what()));
  }
}

}  // namespace

void write_safetensors(const ByteSink& sink, const std::string& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::vector<Named> order = in_file_order(tensors);
  write_header(sink, checked_header(path, order, metadata));
  for (const Named named : order) write_data(sink, named->second);
}

void save_safetensors(const std::string& path, const TensorMap& tensors,
                      const std::map<std::string, std::string>& metadata) {
  // Opened by the first bytes, which come once all tensors are known to be writable.
  std::optional<AtomicFile> file;
  const auto sink = [&](std::span<const std::byte> bytes) { (file ? *file : file.emplace(path)).write(bytes); };
  write_safetensors(sink, path, tensors, metadata);
  file->commit();
}

}  // namespace lope
