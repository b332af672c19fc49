#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/loader.h>

#include "support/device_test.h"
#include "support/loader_data.h"

namespace lope {
namespace {

using namespace lope::testing;

class LoaderOnDevice : public DeviceTest {
 protected:
  LoaderOptions options(int64_t workers) const {
    return {.batch_size = 5, .pin_memory = true, .num_workers = workers, .device = device()};
  }
};

TEST_P(LoaderOnDevice, HandsOutTheSameBatchesThere) {
  const auto data = numbers(23);
  Loader expected(data, {.batch_size = 5});
  const auto batches = batches_left(expected);
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, options(workers));
    std::vector<Ids> got;
    while (const auto batch = loader.next()) {
      EXPECT_TRUE(batch->is_on(device()));
      got.push_back(ids_of(Batch{{"id", (*batch)["id"].cpu()}}));
    }
    EXPECT_EQ(got, batches) << workers << " workers";
  }
}

TEST_P(LoaderOnDevice, WorkOnABatchSeesAllOfItHoweverLongItsCopyTakes) {
  const int64_t width = 1'000'000;
  const TensorDataset data({{"x", at::arange(20).unsqueeze(1).expand({20, width})}});
  Loader loader(data, options(2));
  at::Tensor sum = at::zeros({width}, at::TensorOptions(device()).dtype(at::kLong));
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    loader.seek({.epoch = epoch});
    while (const auto batch = loader.next()) sum += (*batch)["x"].sum(0);
  }
  EXPECT_EQ(sum.min().item<int64_t>(), 3 * 190);
  EXPECT_EQ(sum.max().item<int64_t>(), 3 * 190);
}

TEST_P(LoaderOnDevice, LeavesDataThatIsThereWhereItIs) {
  const TensorDataset data(Batch{{"id", at::arange(6)}}.to(device()));
  Loader loader(data, options(1));
  EXPECT_TRUE(loader.next()->is_on(device()));
}

INSTANTIATE_TEST_SUITE_P(Devices, LoaderOnDevice, every_device(), device_name);

}  // namespace
}  // namespace lope
