#include "lope/batch.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include "lope/error.h"

namespace lope {

Batch::Batch(std::initializer_list<Item> items) {
  items_.reserve(items.size());
  for (const auto& [name, tensor] : items) {
    if (contains(name)) throw Error(fmt::format("batch: \"{}\" is given twice: give each tensor its own name", name));
    items_.emplace_back(name, tensor);
  }
}

const at::Tensor* Batch::find(std::string_view name) const {
  for (const auto& [key, tensor] : items_) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

const at::Tensor& Batch::operator[](std::string_view name) const {
  if (const auto* tensor = find(name)) return *tensor;
  std::string names;
  for (const auto& item : items_) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", item.first);
  throw Error(fmt::format("batch: there is no \"{}\": it has {}; check the names that the data set gives", name,
                          names.empty() ? "nothing" : names));
}

bool Batch::contains(std::string_view name) const { return find(name) != nullptr; }

void Batch::set(std::string_view name, at::Tensor value) {
  for (auto& [key, tensor] : items_) {
    if (key == name) {
      tensor = std::move(value);
      return;
    }
  }
  items_.emplace_back(std::string(name), std::move(value));
}

int64_t Batch::rows() const {
  if (items_.empty() || items_.front().second.dim() == 0) return 0;
  return items_.front().second.size(0);
}

int64_t Batch::tokens() const {
  const auto* ids = find("input_ids");
  return ids != nullptr ? ids->numel() : rows();
}

bool Batch::is_on(at::Device device) const {
  for (const auto& item : items_) {
    const at::Device own = item.second.device();
    const bool same_index = !device.has_index() || own.index() == device.index();
    if (own.type() != device.type() || !same_index) return false;
  }
  return true;
}

Batch Batch::to(at::Device device) const {
  if (is_on(device)) return *this;
  Batch moved;
  moved.items_.reserve(items_.size());
  for (const auto& [name, tensor] : items_) {
    const bool asynchronous = tensor.is_cpu() && tensor.is_pinned();
    moved.items_.emplace_back(name, tensor.to(device, tensor.scalar_type(), asynchronous));
  }
  return moved;
}

Batch Batch::pin() const {
  if (!at::globalContext().hasCUDA()) return *this;
  Batch pinned;
  pinned.items_.reserve(items_.size());
  for (const auto& [name, tensor] : items_) {
    pinned.items_.emplace_back(name, tensor.is_cpu() ? tensor.pin_memory() : tensor);
  }
  return pinned;
}

Batch Batch::slice(int64_t begin, int64_t count) const {
  Batch part;
  part.items_.reserve(items_.size());
  for (const auto& [name, tensor] : items_) part.items_.emplace_back(name, tensor.narrow(0, begin, count));
  return part;
}

}  // namespace lope
