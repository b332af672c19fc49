#pragma once
// The data of the loader's benchmark, and clocks.

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <fmt/format.h>
#include <lope/dataset.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace loader_cases {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr int64_t kRows = 60'000;
constexpr int64_t kRowBatch = 64;
constexpr int64_t kBlock = 1024;
constexpr int64_t kBlocks = 20'000;
constexpr int64_t kBlockBatch = 8;
constexpr int64_t kDecodeBatch = 3;
constexpr auto kDecode = std::chrono::milliseconds(2);
constexpr auto kStep = std::chrono::milliseconds(4);

/// As many as Fashion-MNIST has: 784 bytes and a label.
inline lope::Batch rows() {
  return {{"image", at::randint(0, 256, {kRows, 784}, at::kByte)}, {"label", at::randint(0, 10, {kRows}, at::kLong)}};
}

inline void write_tokens(const std::string& path) {
  std::string block(kBlock * sizeof(uint16_t), '\1');
  std::ofstream file(path, std::ios::binary);
  for (int64_t i = 0; i < kBlocks; ++i) file.write(block.data(), static_cast<std::streamsize>(block.size()));
}

/// An example takes 2 ms: it sleeps, as when a disk or a decoder elsewhere works.
class Decoded : public lope::Dataset {
 public:
  explicit Decoded(int64_t examples) : examples_(examples) {}
  int64_t size() const override { return examples_; }
  lope::Batch get(int64_t index) const override {
    std::this_thread::sleep_for(kDecode);
    return {{"x", at::full({16}, static_cast<double>(index))}};
  }

 private:
  int64_t examples_;
};

/// Computes for 4 ms.
inline void train_step() {
  const auto begin = Clock::now();
  while (Clock::now() - begin < kStep) {
  }
}

}  // namespace loader_cases
