// A token file that is larger than what a process may hold in memory.

#include <ATen/ops/embedding.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/loss.h>
#include <lope/token_dataset.h>
#include <lope/trainer.h>
#include <torch/nn/module.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>

#include "support/temporary_folder.h"
#include "support/toy_trainer.h"

namespace lope {
namespace {

using testing::TemporaryFolder;
using testing::toy_arguments;

constexpr uintmax_t kFileBytes = uintmax_t{4} << 30;
constexpr int64_t kMostResident = int64_t{1} << 30;

/// The most memory that this process has held so far, in bytes.
int64_t most_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") break;
  }
  int64_t kibibytes = 0;
  status >> kibibytes;
  return kibibytes * 1024;
}

/// Logits of the next token by the present one.
struct Bigram : torch::nn::Module {
  at::Tensor weight = register_parameter("weight", at::zeros({4, 4}));
};

int64_t train_on(const TokenDataset& data) {
  const auto net = std::make_shared<Bigram>();
  TrainingArguments arguments = toy_arguments();
  arguments.per_device_train_batch_size = 16;
  arguments.max_steps = 200;
  arguments.train_sampling_strategy = "random";
  const auto loss = [&](const Batch& batch) {
    return causal_lm_loss(at::embedding(net->weight, batch["input_ids"]), batch["labels"]);
  };
  Trainer trainer(arguments, Model(net), loss, {.train_dataset = &data, .default_callbacks = false});
  return trainer.train().global_step;
}

/// Far more blocks than the training reads: without giving pages back, 1.5 GB of the file would be held.
void read_many(const TokenDataset& data) {
  for (int i = 0; i < 1500; ++i) {
    const at::Tensor indices = at::randint(data.size(), {16}, at::kLong);
    data.get_batch(std::span(indices.const_data_ptr<int64_t>(), 16));
  }
}

/// Exits with 0 when all went well within the memory.
[[noreturn]] void run(const std::string& path) {
  const TokenDataset data(path, {.type = TokenType::kUInt16, .block_size = 1024});
  const bool trained = data.size() == 2 * 1024 * 1024 && train_on(data) == 200;
  read_many(data);
  std::cerr << "steps done: " << trained << ", resident at most " << most_resident() / 1'000'000 << " MB\n";
  std::exit(trained && most_resident() < kMostResident ? 0 : 1);
}

TEST(TokenDatasetMemoryDeathTest, AFileOfFourGigabytesTrainsInLessThanOne) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers hold memory of their own";
#endif
  const TemporaryFolder folder;
  {
    std::ofstream(folder / "t.bin");
  }
  std::filesystem::resize_file(folder / "t.bin", kFileBytes);  // sparse: no byte of it is on the disk
  GTEST_FLAG_SET(death_test_style, "threadsafe");              // a process of its own, from its beginning
  EXPECT_EXIT(run(folder / "t.bin"), ::testing::ExitedWithCode(0), "resident at most");
}

}  // namespace
}  // namespace lope
