#pragma once
// Data whose examples say which they are, and what a loader gives of them.
//
//   const auto data = numbers(10);
//   Loader loader(data, {.batch_size = 4});
//   batches_left(loader);   // {{7, 2, 0, 9}, {1, …}, …}

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <lope/dataset.h>
#include <lope/loader.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace lope::testing {

using Ids = std::vector<int64_t>;

/// Example i is the number i.
inline TensorDataset numbers(int64_t size) { return TensorDataset({{"id", at::arange(size)}}); }

inline Ids ids_of(const Batch& batch) {
  const at::Tensor ids = batch["id"].contiguous();
  return {ids.const_data_ptr<int64_t>(), ids.const_data_ptr<int64_t>() + ids.numel()};
}

/// The rest of the epoch, one list for each micro-batch.
inline std::vector<Ids> batches_left(Loader& loader) {
  std::vector<Ids> all;
  while (const auto batch = loader.next()) all.push_back(ids_of(*batch));
  return all;
}

inline Ids ids_left(Loader& loader) {
  Ids all;
  for (const auto& ids : batches_left(loader)) all.insert(all.end(), ids.begin(), ids.end());
  return all;
}

inline Ids epoch_order(Loader& loader, int64_t epoch) {
  loader.seek({.epoch = epoch});
  return ids_left(loader);
}

/// Has no batched fast path; example 3 fails while `broken`.
struct SingleExamples : Dataset {
  int64_t size() const override { return 6; }
  Batch get(int64_t index) const override {
    if (broken && index == 3) throw std::runtime_error("no such picture\nand a second line");
    return {{"id", at::full({}, index, at::kLong)}};
  }
  bool broken = false;
};

/// 0, 1, … below `size`, plus a hundred for each epoch; throws at `bad`, once.
struct Counter : IterableDataset {
  struct Pass : ExampleStream {
    Pass(int64_t end, int64_t failing, int64_t first) : size(end), bad(failing), offset(first) {}
    std::optional<Batch> next() override {
      if (position == bad && !std::exchange(thrown, true)) throw std::runtime_error("connection lost");
      if (position == size) return std::nullopt;
      return Batch{{"id", at::full({}, offset + position++, at::kLong)}};
    }
    int64_t size;
    int64_t bad;
    int64_t offset;
    int64_t position = 0;
    bool thrown = false;
  };

  std::unique_ptr<ExampleStream> begin(uint64_t /*seed*/, int64_t epoch) const override {
    return std::make_unique<Pass>(size, bad, 100 * epoch);
  }

  int64_t size = 5;
  int64_t bad = -1;
};

}  // namespace lope::testing
