#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <lope/dataset.h>

#include <vector>

#include "support/device_test.h"
#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

TEST(TensorDataset, ExamplesAreRowsWithoutABatchDimension) {
  const TensorDataset data({{"x", at::arange(6).reshape({3, 2})}, {"y", at::arange(3)}});
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.get(2)["x"].sizes(), (std::vector<int64_t>{2}));
  EXPECT_EQ(data.get(2)["y"].dim(), 0);
  EXPECT_EQ(data.get(2)["y"].item<int64_t>(), 2);
}

TEST(TensorDataset, TensorsOfDifferentLengthsAreRefused) {
  EXPECT_EQ(error_of([] { TensorDataset({{"x", at::ones({3})}, {"y", at::ones({2})}}); }),
            "data set: \"y\" has 2 rows but \"x\" has 3: all tensors need the same number of rows");
  EXPECT_EQ(error_of([] { TensorDataset{Batch{}}; }),
            "data set: there is no tensor: give at least one, with rows in dimension 0");
}

TEST(Dataset, HasNoBatchedPathUnlessItSaysSo) {
  struct Numbers : Dataset {
    int64_t size() const override { return 2; }
    Batch get(int64_t index) const override { return {{"y", at::full({}, index)}}; }
  };
  EXPECT_FALSE(Numbers().get_batch(std::vector<int64_t>{0, 1}).has_value());
}

class TensorDatasetOnDevice : public testing::DeviceTest {};

TEST_P(TensorDatasetOnDevice, BatchesAreTheSameAsStackedExamples) {
  const TensorDataset data(Batch{{"x", at::arange(6).reshape({3, 2})}}.to(device()));
  const std::vector<int64_t> indices{2, 0};
  const Batch batch = *data.get_batch(indices);
  EXPECT_TRUE(batch.is_on(device()));
  for (size_t row = 0; row < indices.size(); ++row) {
    EXPECT_TRUE(batch["x"][static_cast<int64_t>(row)].equal(data.get(indices[row])["x"]));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorDatasetOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace lope
