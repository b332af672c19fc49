// Saving and loading a state, beside a raw write of the same bytes and beside torch::save. checkpoint_io.py runs it in
// turn with dd and with Python's torch and safetensors, and prints the table.
//
//   build/release/bin/checkpoint_io WHAT FOLDER [MEGABYTES] [fsync|cache]
//
// WHAT is one of raw, lope, torch (write, print the seconds), lope-load, torch-load, lazy (read what was written). Only
// the action is timed. "cache" leaves what raw and torch write in the page cache; Lope's checkpoints always go to the
// disk.

#include <ATen/ops/full.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <lope/checkpoint_folder.h>
#include <lope/safetensors.h>
#include <torch/serialize.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int64_t kElements = 1 << 20;
constexpr int64_t kMegabytesEach = 4;

struct Options {
  std::filesystem::path folder;
  int64_t tensors = 0;
  bool sync = true;
};

double seconds(const auto& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

lope::TensorMap make_state(const Options& options) {
  lope::TensorMap state;
  for (int64_t i = 0; i < options.tensors; ++i)
    state.emplace(fmt::format("layer{}.weight", i), at::full({kElements}, static_cast<double>(i + 1)));
  return state;
}

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " failed");
}

void write_all(int file, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    check(written > 0, "write");
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void write_raw(const Options& options, const lope::TensorMap& state) {
  const int file = ::open((options.folder / "raw").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  check(file >= 0, "open");
  for (const auto& [name, tensor] : state) {
    write_all(file, static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
  }
  if (options.sync) check(::fsync(file) == 0, "fsync");
  ::close(file);
}

void sync_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(file >= 0 && ::fsync(file) == 0, "fsync");
  ::close(file);
}

double sum_of(const at::Tensor& tensor) {
  double sum = 0;
  const auto* const values = tensor.const_data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); i += 1024) sum += static_cast<double>(values[i]);  // one in each page
  return sum;
}

double raw(const Options& options) {
  const auto state = make_state(options);
  std::filesystem::remove(options.folder / "raw");  // so that nobody pays for giving back the blocks of an old file
  return seconds([&] { write_raw(options, state); });
}

double save_lope(const Options& options) {
  const auto state = make_state(options);
  std::filesystem::remove_all(options.folder / "checkpoint-1");
  return seconds([&] {
    lope::CheckpointWriter writer(options.folder / "checkpoint-1");
    writer.write_tensors("model.safetensors", state);
    writer.commit();
  });
}

double save_torch(const Options& options) {
  const auto state = make_state(options);
  const auto path = options.folder / "torch.pt";
  std::filesystem::remove(path);
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : state) tensors.push_back(tensor);
  return seconds([&] {
    torch::save(tensors, path.string());
    if (options.sync) sync_file(path);
  });
}

double load_lope(const Options& options) {
  return seconds([&] {
    const lope::CheckpointReader reader(options.folder / "checkpoint-1");  // reads every byte for its checksum
    double sum = 0;
    for (const auto& [name, tensor] : reader.tensors("model.safetensors")) sum += sum_of(tensor);
    check(sum != 0, "sum");
  });
}

double load_torch(const Options& options) {
  return seconds([&] {
    std::vector<at::Tensor> tensors;
    torch::load(tensors, (options.folder / "torch.pt").string());
    double sum = 0;
    for (const at::Tensor& tensor : tensors) sum += sum_of(tensor);
    check(sum != 0, "sum");
  });
}

/// One tensor of a file that was not open before.
double lazy(const Options& options) {
  return seconds([&] {
    const lope::SafetensorsFile file((options.folder / "checkpoint-1" / "model.safetensors").string());
    check(sum_of(file.tensor("layer1.weight")) != 0, "sum");
  });
}

const std::map<std::string, double (*)(const Options&)> kActions{
    {"raw", raw},  {"lope", save_lope}, {"torch", save_torch}, {"lope-load", load_lope}, {"torch-load", load_torch},
    {"lazy", lazy}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || !kActions.contains(argv[1])) {
    fmt::print(stderr,
               "usage: checkpoint_io raw|lope|torch|lope-load|torch-load|lazy FOLDER [MEGABYTES] [fsync|cache]\n");
    return 2;
  }
  const int64_t megabytes = argc > 3 ? std::stoll(argv[3]) : 1024;
  const Options options{argv[2], megabytes / kMegabytesEach, argc < 5 || std::string(argv[4]) != "cache"};
  fmt::print("{:.6f}\n", kActions.at(argv[1])(options));
}
