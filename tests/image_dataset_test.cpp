#include "lope/image_dataset.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/error_of.h"
#include "support/idx_bytes.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::idx_bytes;
using testing::TemporaryFolder;
using testing::write_text;

at::Tensor bytes(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return at::arange(count, at::kByte).reshape(shape);
}

at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

TEST(ImageDataset, ExamplesArePixelsBetweenZeroAndOneAndALabel) {
  const ImageDataset data(at::tensor({0, 51, 255, 102}, at::kByte).reshape({2, 1, 2}), at::tensor({3, 1}, at::kByte));
  EXPECT_EQ(data.size(), 2);
  EXPECT_TRUE(data.get(0)["pixel_values"].allclose(at::tensor({0.0F, 0.2F}).reshape({1, 1, 2})));
  EXPECT_TRUE(data.get(1)["pixel_values"].allclose(at::tensor({1.0F, 0.4F}).reshape({1, 1, 2})));
  EXPECT_EQ(data.get(1)["labels"].dim(), 0);
  EXPECT_EQ(data.get(1)["labels"].item<int64_t>(), 1);
}

TEST(ImageDataset, PixelsAreCentredAndScaled) {
  const ImageDataset data(at::tensor({51}, at::kByte).reshape({1, 1, 1}), longs({0}), {.mean = 0.1, .deviation = 0.5});
  EXPECT_NEAR(data.get(0)["pixel_values"].item<float>(), (0.2 - 0.1) / 0.5, 1e-6);
}

TEST(ImageDataset, BatchesAreTheSameAsStackedExamples) {
  const ImageDataset data(bytes({3, 2, 2}), longs({7, 8, 9}), {.mean = 0.3, .deviation = 0.7});
  const std::vector<int64_t> indices{2, 0};
  const Batch batch = *data.get_batch(indices);
  EXPECT_EQ(batch["pixel_values"].sizes(), (std::vector<int64_t>{2, 1, 2, 2}));
  EXPECT_TRUE(batch["labels"].equal(longs({9, 7})));
  for (int64_t row = 0; row < 2; ++row) {
    const Batch example = data.get(indices[static_cast<size_t>(row)]);
    EXPECT_TRUE(batch["pixel_values"][row].equal(example["pixel_values"]));
  }
}

TEST(ImageDataset, ImagesMayHaveChannels) {
  EXPECT_EQ(ImageDataset(bytes({2, 3, 2, 2}), longs({0, 1})).get(0)["pixel_values"].sizes(),
            (std::vector<int64_t>{3, 2, 2}));
}

TEST(ImageDataset, TensorsThatAreNoImagesAreRefused) {
  EXPECT_EQ(error_of([] { ImageDataset(at::zeros({2, 3, 3}), longs({0, 1})); }),
            "images: they are Float (2, 3, 3): they must be uint8 (n, height, width) or (n, channels, height, width)");
  EXPECT_EQ(error_of([] { ImageDataset(bytes({2, 3}), longs({0, 1})); }),
            "images: they are Byte (2, 3): they must be uint8 (n, height, width) or (n, channels, height, width)");
  EXPECT_EQ(error_of([] { ImageDataset(bytes({2, 3, 3}), longs({0, 1, 2})); }),
            "images: there are 2 of them and labels Long (3): the labels must be integers (2)");
  EXPECT_EQ(error_of([] { ImageDataset(bytes({2, 3, 3}), at::ones({2})); }),
            "images: there are 2 of them and labels Float (2): the labels must be integers (2)");
  EXPECT_EQ(error_of([] { ImageDataset(bytes({1, 1, 1}), longs({0}), {.deviation = 0}); }),
            "images: deviation is 0: it must be above 0");
}

TEST(ImageDataset, MnistReadsBothSplitsOfAFolder) {
  const TemporaryFolder folder;
  write_text(folder / "train-images-idx3-ubyte", idx_bytes(0x08, {2, 1, 1}, "\x01\x02"));
  write_text(folder / "train-labels-idx1-ubyte", idx_bytes(0x08, {2}, "\x05\x06"));
  write_text(folder / "t10k-images-idx3-ubyte", idx_bytes(0x08, {1, 1, 1}, "\x03"));
  write_text(folder / "t10k-labels-idx1-ubyte.gz", idx_bytes(0x08, {1}, "\x07"));
  const std::string path = folder.path();
  EXPECT_TRUE(ImageDataset::mnist(path, MnistSplit::kTrain).labels().equal(longs({5, 6})));
  const auto test = ImageDataset::mnist(path, MnistSplit::kTest);
  EXPECT_TRUE(test.labels().equal(longs({7})));
  EXPECT_TRUE(test.images().equal(at::tensor({3}, at::kByte).reshape({1, 1, 1, 1})));
}

TEST(ImageDataset, MnistNamesTheFilesThatAreMissingOrDoNotFit) {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  EXPECT_EQ(error_of([&] { ImageDataset::mnist(path, MnistSplit::kTrain); }),
            path +
                " has no train-images-idx3-ubyte and no train-images-idx3-ubyte.gz: give the folder of MNIST or "
                "Fashion-MNIST");
  write_text(folder / "train-images-idx3-ubyte", idx_bytes(0x08, {2, 1, 1}, "\x01\x02"));
  write_text(folder / "train-labels-idx1-ubyte", idx_bytes(0x08, {1}, "\x05"));
  EXPECT_EQ(
      error_of([&] { ImageDataset::mnist(path, MnistSplit::kTrain); }),
      path + "/train-images-idx3-ubyte and " + path +
          "/train-labels-idx1-ubyte: images: there are 2 of them and labels Byte (1): the labels must be integers "
          "(2)");
}

}  // namespace
}  // namespace lope
