// How long saving in the background holds up the loop, beside one memory copy of the same state, and beside writing at
// once.
//
//   OMP_NUM_THREADS=1 build/release/bin/checkpoint_stall [FOLDER] [ROUNDS]

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "../src/checkpoint_saver.h"

namespace {

constexpr int64_t kTensors = 96;
constexpr int64_t kElements = 1 << 20;

double milliseconds(const auto& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

lope::TensorMap make_state() {
  lope::TensorMap state;
  for (int64_t i = 0; i < kTensors; ++i) state.emplace(fmt::format("layer{}.weight", i), at::ones({kElements}));
  return state;
}

void measure(const std::filesystem::path& folder, int rounds) {
  const lope::TensorMap state = make_state();
  lope::TensorMap copies;
  for (const auto& [name, tensor] : state) copies.emplace(name, tensor.clone());
  lope::CheckpointSaver background({.in_background = true, .limit = 1});
  lope::CheckpointSaver at_once({.in_background = false, .limit = 1});
  std::vector<double> copy;
  std::vector<double> stall;
  std::vector<double> whole;
  for (int round = 0; round <= rounds; ++round) {
    const auto path = folder / fmt::format("checkpoint-{}", round);
    const double copied = milliseconds([&] {
      for (const auto& [name, tensor] : state) {
        std::memcpy(copies.at(name).mutable_data_ptr(), tensor.const_data_ptr(), tensor.nbytes());
      }
    });
    const double stalled =
        milliseconds([&] { background.save(path, {.tensors = {{"model.safetensors", state}}}, {}); });
    background.wait();
    const double written = milliseconds([&] { at_once.save(path, {.tensors = {{"model.safetensors", state}}}, {}); });
    if (round == 0) {
      fmt::print("first save, which makes the buffers: {:.1f} ms\n", stalled);
      continue;
    }
    copy.push_back(copied);
    stall.push_back(stalled);
    whole.push_back(written);
  }
  const double megabytes = static_cast<double>(kTensors * kElements) * sizeof(float) / 1e6;
  fmt::print(
      "{:.0f} MB, medians of {}: one memory copy {:.1f} ms, stall in the background {:.1f} ms ({:.2f}), at once {:.1f} "
      "ms\n",
      megabytes, rounds, median(copy), median(stall), median(stall) / median(copy), median(whole));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "lope-stall";
  measure(folder, argc > 2 ? std::stoi(argv[2]) : 7);
  std::filesystem::remove_all(folder);
}
