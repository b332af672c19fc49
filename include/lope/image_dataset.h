#pragma once
// Images of MNIST's kind, in memory as bytes and handed out as floats.
//
//   const auto train = lope::ImageDataset::mnist("/usr/share/datasets/fashion-mnist", lope::MnistSplit::kTrain);
//   train.get_batch(indices);           // "pixel_values" (rows, 1, 28, 28) in [0, 1], "labels" (rows)

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lope/dataset.h"

namespace lope {

/// Pixels become (value / 255 − mean) / deviation.
struct PixelScale {
  double mean = 0.0;
  double deviation = 1.0;
};

enum class MnistSplit { kTrain, kTest };

/// Example i: "pixel_values" (channels, height, width), float, and "labels", an int64 scalar.
class ImageDataset : public Dataset {
 public:
  /// `images` uint8 (n, height, width) or (n, channels, height, width), `labels` of an integer type (n). Throws Error
  /// when they are something else or differ in n.
  ImageDataset(const at::Tensor& images, const at::Tensor& labels, PixelScale scale = {});

  /// From `{train,t10k}-images-idx3-ubyte` and `{train,t10k}-labels-idx1-ubyte` in `folder`, plain or with `.gz`.
  /// Throws Error naming the file that is missing or wrong.
  static ImageDataset mnist(const std::string& folder, MnistSplit split, PixelScale scale = {});

  int64_t size() const override { return images_.size(0); }
  Batch get(int64_t index) const override;
  std::optional<Batch> get_batch(std::span<const int64_t> indices) const override;

  /// uint8 (n, channels, height, width).
  const at::Tensor& images() const { return images_; }
  /// int64 (n).
  const at::Tensor& labels() const { return labels_; }

 private:
  at::Tensor scaled(const at::Tensor& bytes) const;

  at::Tensor images_;
  at::Tensor labels_;
  PixelScale scale_;
};

}  // namespace lope
