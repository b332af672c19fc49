// Rows a second of the loader, beside a loop by hand, torch::data and Python's DataLoader, and how long a training step
// waits for data that takes its time.
//
//   OMP_NUM_THREADS=1 build/release/bin/loader PYTHON benchmarks/loader.py

#include <ATen/ops/empty.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/stack.h>
#include <lope/error.h>
#include <lope/loader.h>
#include <lope/mapped_file.h>
#include <lope/token_dataset.h>
#include <torch/data.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "loader_cases.h"

namespace {

using namespace loader_cases;

constexpr int kRounds = 20;

void print(std::string_view data, std::string_view loader, double seconds, int64_t rows, int64_t batch) {
  std::cout << fmt::format("{:<14} {:<28} {:>12.0f} {:>10.1f}\n", data, loader, static_cast<double>(rows) / seconds,
                           seconds * 1e6 * static_cast<double>(batch) / static_cast<double>(rows))
            << std::flush;
}

/// The fastest of several epochs.
double fastest(const auto& epoch) {
  double best = 1e9;
  for (int64_t round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    epoch(round);
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

double lope_epoch(const lope::Dataset& data, int64_t batch, int64_t workers) {
  lope::Loader loader(data, {.batch_size = batch, .num_workers = workers, .persistent_workers = workers > 0});
  return fastest([&](int64_t epoch) {
    loader.seek({.epoch = epoch});
    while (loader.next()) {
    }
  });
}

/// What one would write by hand: a permutation, and for each batch one gather a tensor.
double gather_rows(const lope::Batch& rows) {
  return fastest([&](int64_t) {
    const at::Tensor order = at::randperm(kRows, at::kLong);
    for (int64_t first = 0; first < kRows; first += kRowBatch) {
      const at::Tensor index = order.narrow(0, first, std::min(kRowBatch, kRows - first));
      lope::Batch{{"image", rows["image"].index_select(0, index)}, {"label", rows["label"].index_select(0, index)}};
    }
  });
}

/// By hand: each block is widened straight into its row of the batch.
double gather_blocks(const std::string& path) {
  const auto file = lope::MappedFile::open(path);
  const auto* tokens = reinterpret_cast<const uint16_t*>(file->bytes().data());
  return fastest([&](int64_t) {
    const at::Tensor order = at::randperm(kBlocks, at::kLong);
    const auto* places = order.const_data_ptr<int64_t>();
    for (int64_t first = 0; first < kBlocks; first += kBlockBatch) {
      const at::Tensor batch = at::empty({kBlockBatch, kBlock}, at::kLong);
      auto* row = batch.mutable_data_ptr<int64_t>();
      for (int64_t i = 0; i < kBlockBatch; ++i) {
        std::copy_n(tokens + places[first + i] * kBlock, kBlock, row + i * kBlock);
      }
    }
  });
}

/// Any of the data sets as torch::data wants it.
class ForTorch : public torch::data::datasets::Dataset<ForTorch> {
 public:
  ForTorch(const lope::Dataset& data, std::string input) : data_(data), input_(std::move(input)) {}
  torch::data::Example<> get(size_t index) override {
    const lope::Batch example = data_.get(static_cast<int64_t>(index));
    return {example[input_], example.contains("label") ? example["label"] : example[input_]};
  }
  std::optional<size_t> size() const override { return static_cast<size_t>(data_.size()); }

 private:
  const lope::Dataset& data_;
  std::string input_;
};

double torch_epoch(const lope::Dataset& data, const std::string& input, int64_t batch, size_t workers) {
  auto stacked = ForTorch(data, input).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(
      std::move(stacked), torch::data::DataLoaderOptions(static_cast<size_t>(batch)).workers(workers));
  return fastest([&](int64_t) {
    for (auto& example : *loader) static_cast<void>(example);
  });
}

void compare(std::string_view name, const lope::Dataset& data, const std::string& input, int64_t batch) {
  for (const int64_t workers : {0, 2}) {
    print(name, fmt::format("lope, {} workers", workers), lope_epoch(data, batch, workers), data.size(), batch);
  }
  for (const size_t workers : {size_t{0}, size_t{2}}) {
    print(name, fmt::format("torch::data, {} workers", workers), torch_epoch(data, input, batch, workers), data.size(),
          batch);
  }
}

/// The share of the time that the loop waits in `next()`.
void waiting(int64_t workers) {
  const Decoded data(kDecodeBatch * 300);
  lope::Loader loader(data, {.batch_size = kDecodeBatch, .num_workers = workers});
  const bool begun = loader.next().has_value();
  const auto begin = Clock::now();
  double waited = 0;
  while (begun) {
    const auto asked = Clock::now();
    const auto batch = loader.next();
    waited += seconds_since(asked);
    if (!batch) break;
    train_step();
  }
  std::cout << fmt::format("{:<14} {:<28} {:>11.1f} %\n", "2-ms decode", fmt::format("lope, {} workers", workers),
                           100 * waited / seconds_since(begin))
            << std::flush;
}

void run_python(const std::string& python, const std::string& script, const std::string& tokens) {
  const std::string command = fmt::format("'{}' '{}' '{}'", python, script, tokens);
  // NOLINTNEXTLINE(bugprone-command-processor): both paths are the caller's own.
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 256> line{};
  while (fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr) std::cout << line.data();
}

void measure(const std::string& tokens) {
  std::cout << fmt::format("{:<14} {:<28} {:>12} {:>10}\n", "data", "loader", "rows/s", "us/batch");
  const lope::Batch tensors = rows();
  const lope::TensorDataset rows_data(tensors);
  print("tensor rows", "by hand", gather_rows(tensors), kRows, kRowBatch);
  compare("tensor rows", rows_data, "image", kRowBatch);
  write_tokens(tokens);
  const lope::TokenDataset blocks(tokens, {.block_size = kBlock});
  print("token blocks", "by hand", gather_blocks(tokens), kBlocks, kBlockBatch);
  compare("token blocks", blocks, "input_ids", kBlockBatch);
  std::cout << fmt::format("\n{:<14} {:<28} {:>13}\n", "data", "loader", "waits");
  for (const int64_t workers : {0, 2}) waiting(workers);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string tokens = (std::filesystem::temp_directory_path() / "lope_loader_tokens.bin").string();
  try {
    measure(tokens);
    if (argc > 2) run_python(argv[1], argv[2], tokens);
  } catch (const std::exception& error) {
    std::cerr << "loader: " << lope::first_line(error.what()) << '\n';
    return 1;
  }
  std::filesystem::remove(tokens);
  return 0;
}
