#include "lope/image_dataset.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "lope/error.h"
#include "lope/idx_file.h"

namespace lope {
namespace {

at::Tensor with_channels(const at::Tensor& images) {
  if (images.scalar_type() != at::kByte || (images.dim() != 3 && images.dim() != 4)) {
    throw Error(
        fmt::format("images: they are {} ({}): they must be uint8 (n, height, width) or (n, channels, height, "
                    "width)",
                    c10::toString(images.scalar_type()), fmt::join(images.sizes(), ", ")));
  }
  return (images.dim() == 3 ? images.unsqueeze(1) : images).contiguous();
}

std::string file_in(const std::string& folder, const std::string& name) {
  const auto plain = std::filesystem::path(folder) / name;
  const auto zipped = plain.string() + ".gz";
  for (const std::string& path : {plain.string(), zipped}) {
    if (std::filesystem::exists(path)) return path;
  }
  throw Error(fmt::format("{} has no {} and no {}.gz: give the folder of MNIST or Fashion-MNIST", folder, name, name));
}

}  // namespace

ImageDataset::ImageDataset(const at::Tensor& images, const at::Tensor& labels, PixelScale scale)
    : images_(with_channels(images)), labels_(labels.to(at::kLong)), scale_(scale) {
  if (at::isFloatingType(labels.scalar_type()) || labels.dim() != 1 || labels.size(0) != size()) {
    throw Error(fmt::format("images: there are {} of them and labels {} ({}): the labels must be integers ({})", size(),
                            c10::toString(labels.scalar_type()), fmt::join(labels.sizes(), ", "), size()));
  }
  if (!(scale.deviation > 0)) throw Error(fmt::format("images: deviation is {}: it must be above 0", scale.deviation));
}

ImageDataset ImageDataset::mnist(const std::string& folder, MnistSplit split, PixelScale scale) {
  const std::string prefix = split == MnistSplit::kTrain ? "train" : "t10k";
  const std::string images = file_in(folder, prefix + "-images-idx3-ubyte");
  const std::string labels = file_in(folder, prefix + "-labels-idx1-ubyte");
  try {
    return {read_idx(images), read_idx(labels), scale};
  } catch (const Error& error) {
    const std::string_view message = error.what();
    throw Error(message.starts_with("images:") ? fmt::format("{} and {}: {}", images, labels, message) : error.what());
  }
}

at::Tensor ImageDataset::scaled(const at::Tensor& bytes) const {
  return bytes.to(at::kFloat).sub_(255.0 * scale_.mean).mul_(1.0 / (255.0 * scale_.deviation));
}

Batch ImageDataset::get(int64_t index) const {
  return {{"pixel_values", scaled(images_.select(0, index))}, {"labels", labels_.select(0, index)}};
}

std::optional<Batch> ImageDataset::get_batch(std::span<const int64_t> indices) const {
  // index_select only reads; from_blob has no form for constant memory.
  auto* data = const_cast<int64_t*>(indices.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const at::Tensor rows = at::from_blob(data, {static_cast<int64_t>(indices.size())}, at::TensorOptions(at::kLong));
  return Batch{{"pixel_values", scaled(images_.index_select(0, rows))}, {"labels", labels_.index_select(0, rows)}};
}

}  // namespace lope
