#include "lope/dataset_views.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "lope/error.h"

namespace lope {
namespace {

bool same_kind(const Batch& a, const Batch& b) {
  return std::ranges::equal(a, b, [](const Batch::Item& left, const Batch::Item& right) {
    return left.first == right.first && left.second.dtype() == right.second.dtype() &&
           left.second.device() == right.second.device() &&
           left.second.sizes().slice(1) == right.second.sizes().slice(1);
  });
}

/// Rows of the batches, laid end to end, in the order that `rows` says.
Batch join(const std::vector<Batch>& batches, const std::vector<int64_t>& rows) {
  Batch joined;
  for (const auto& item : batches.front()) {
    std::vector<at::Tensor> column;
    column.reserve(batches.size());
    for (const Batch& batch : batches) column.push_back(batch[item.first]);
    const at::Tensor all = at::cat(column);
    joined.set(item.first, all.index_select(0, at::tensor(rows, at::kLong).to(all.device())));
  }
  return joined;
}

}  // namespace

ConcatDataset::ConcatDataset(std::vector<std::reference_wrapper<const Dataset>> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw Error("concatenation: there is no data set: give at least one");
  int64_t end = 0;
  for (const Dataset& part : parts_) ends_.push_back(end += part.size());
}

ConcatDataset::Place ConcatDataset::find(int64_t index) const {
  const auto end = std::ranges::upper_bound(ends_, index);
  const auto part = static_cast<size_t>(end - ends_.begin());
  return {part, index - (part == 0 ? 0 : ends_[part - 1])};
}

Batch ConcatDataset::get(int64_t index) const {
  const Place place = find(index);
  return parts_[place.part].get().get(place.index);
}

std::optional<Batch> ConcatDataset::get_batch(std::span<const int64_t> indices) const {
  std::vector<std::vector<int64_t>> wanted(parts_.size());
  std::vector<Place> places;  // part, and row in its batch
  places.reserve(indices.size());
  for (const int64_t index : indices) {
    const Place place = find(index);
    places.push_back({place.part, static_cast<int64_t>(wanted[place.part].size())});
    wanted[place.part].push_back(place.index);
  }
  std::vector<Batch> batches;
  std::vector<int64_t> first_row(parts_.size());
  int64_t rows = 0;
  for (size_t part = 0; part < parts_.size(); ++part) {
    first_row[part] = rows;
    rows += static_cast<int64_t>(wanted[part].size());
    if (wanted[part].empty()) continue;
    auto batch = parts_[part].get().get_batch(wanted[part]);
    if (!batch || (!batches.empty() && !same_kind(batches.front(), *batch))) return std::nullopt;
    batches.push_back(std::move(*batch));
  }
  if (batches.size() == 1) return std::move(batches.front());
  std::vector<int64_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(first_row[place.part] + place.index);
  return join(batches, order);
}

bool ConcatDataset::augments() const {
  return std::ranges::any_of(parts_, [](const Dataset& part) { return part.augments(); });
}

Batch ConcatDataset::get_augmented(int64_t index, at::Generator generator) const {
  const Place place = find(index);
  return parts_[place.part].get().get_augmented(place.index, std::move(generator));
}

std::optional<int64_t> ConcatDataset::length(int64_t index) const {
  const Place place = find(index);
  return parts_[place.part].get().length(place.index);
}

SubsetDataset::SubsetDataset(const Dataset& dataset, std::vector<int64_t> indices)
    : dataset_(dataset), indices_(std::move(indices)) {
  for (const int64_t index : indices_) {
    if (index >= 0 && index < dataset.size()) continue;
    throw Error(fmt::format("subset: there is no example {}: the data set has {}", index, dataset.size()));
  }
}

SubsetDataset SubsetDataset::range(const Dataset& dataset, int64_t begin, int64_t end, int64_t step) {
  if (step < 1) throw Error(fmt::format("subset: step is {}: it must be 1 or more", step));
  if (begin < 0 || end > dataset.size() || begin > end) {
    throw Error(
        fmt::format("subset: the range [{}, {}) is not within the data set's [0, {})", begin, end, dataset.size()));
  }
  std::vector<int64_t> indices;
  for (int64_t index = begin; index < end; index += step) indices.push_back(index);
  return {dataset, std::move(indices)};
}

std::optional<Batch> SubsetDataset::get_batch(std::span<const int64_t> indices) const {
  std::vector<int64_t> below;
  below.reserve(indices.size());
  for (const int64_t index : indices) below.push_back(at(index));
  return dataset_.get_batch(below);
}

Batch SubsetDataset::get_augmented(int64_t index, at::Generator generator) const {
  return dataset_.get_augmented(at(index), std::move(generator));
}

Batch MapDataset::get_augmented(int64_t index, at::Generator generator) const {
  return function_(dataset_.get_augmented(index, std::move(generator)));
}

Batch AugmentedDataset::get_augmented(int64_t index, at::Generator generator) const {
  Batch example = dataset_.get_augmented(index, generator);
  return function_(std::move(example), std::move(generator));
}

}  // namespace lope
