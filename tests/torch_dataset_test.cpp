#include "lope/torch_dataset.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <lope/loader.h>
#include <torch/data/datasets/map.h>
#include <torch/data/datasets/tensor.h>
#include <torch/data/transforms/lambda.h>
#include <torch/data/transforms/stack.h>

#include <optional>
#include <thread>
#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;
using TorchExample = torch::data::Example<>;

/// Example i has data (i, i) and target 10 i. `get` changes it, as torch::data allows.
class Pairs : public torch::data::datasets::Dataset<Pairs> {
 public:
  explicit Pairs(std::optional<size_t> size = 4) : size_(size) {}
  TorchExample get(size_t index) override {
    last_ = static_cast<int64_t>(index);
    if (index == 3) throw std::out_of_range("no three");
    return {at::full({2}, last_, at::kFloat), at::full({}, 10 * last_, at::kLong)};
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  std::optional<size_t> size_;
  int64_t last_ = 0;
};

TorchExample plus_one(const TorchExample& example) { return {example.data + 1, example.target}; }

TEST(TorchDataset, ExamplesHaveDataAndTarget) {
  const TorchDataset data(Pairs{});
  EXPECT_EQ(data.size(), 4);
  EXPECT_TRUE(data.get(2)["x"].equal(at::full({2}, 2, at::kFloat)));
  EXPECT_EQ(data.get(2)["labels"].item<int64_t>(), 20);
  EXPECT_FALSE(data.get_batch(std::vector<int64_t>{0}).has_value());
}

TEST(TorchDataset, NamesCanBeChosen) {
  const TorchDataset data(Pairs{}, {.data = "pixels", .target = "digit"});
  EXPECT_TRUE(data.get(0).contains("pixels"));
  EXPECT_EQ(data.get(1)["digit"].item<int64_t>(), 10);
}

TEST(TorchDataset, ALoaderBatchesThem) {
  const TorchDataset data(Pairs{3});
  Loader loader(data, {.batch_size = 3, .sampling_strategy = SamplingStrategy::kSequential});
  EXPECT_TRUE((*loader.next())["labels"].equal(at::tensor(std::vector<int64_t>{0, 10, 20}, at::kLong)));
}

TEST(TorchDataset, MappedDataSetsWork) {
  const TorchDataset data(Pairs{}.map(torch::data::transforms::Lambda<TorchExample>(plus_one)));
  EXPECT_TRUE(data.get(2)["x"].equal(at::full({2}, 3, at::kFloat)));
  EXPECT_FALSE(data.get_batch(std::vector<int64_t>{0}).has_value());
}

TEST(TorchDataset, OneThatStacksHasAFastPath) {
  const TorchDataset data(Pairs{}.map(torch::data::transforms::Stack<>()));
  const Batch batch = *data.get_batch(std::vector<int64_t>{2, 0});
  EXPECT_TRUE(batch["labels"].equal(at::tensor(std::vector<int64_t>{20, 0}, at::kLong)));
  EXPECT_EQ(batch["x"].sizes(), (std::vector<int64_t>{2, 2}));
  EXPECT_TRUE(data.get(1)["x"].equal(at::full({2}, 1, at::kFloat)));
  EXPECT_EQ(data.get(1)["labels"].dim(), 0);
}

TEST(TorchDataset, ExamplesWithoutATargetHaveOneTensor) {
  const TorchDataset data(torch::data::datasets::TensorDataset(at::arange(6).reshape({3, 2})));
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.get(1).size(), 1U);
  EXPECT_TRUE(data.get(1)["x"].equal(at::tensor(std::vector<int64_t>{2, 3}, at::kLong)));
}

TEST(TorchDataset, AnExceptionPassesAndTheNextExampleWorks) {
  const TorchDataset data(Pairs{});
  EXPECT_THROW(data.get(3), std::out_of_range);
  EXPECT_EQ(data.get(1)["labels"].item<int64_t>(), 10);
}

TEST(TorchDataset, SeveralThreadsReadAtOnce) {
  const TorchDataset data(Pairs{3});
  std::vector<int64_t> wrong(4);
  std::vector<std::thread> threads;
  threads.reserve(wrong.size());
  for (int64_t& count : wrong) {
    threads.emplace_back([&data, &count] {
      for (int64_t i = 0; i < 300; ++i) count += data.get(i % 3)["labels"].item<int64_t>() == 10 * (i % 3) ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int64_t>(4));
}

TEST(TorchDataset, ADataSetWithoutASizeIsRefused) {
  EXPECT_EQ(error_of([] { TorchDataset{Pairs(std::nullopt)}; }),
            "torch::data data set: it does not know its size: only those with random access can be used");
}

}  // namespace
}  // namespace lope
