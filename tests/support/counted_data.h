#pragma once
// Data sets that a person can follow: rows of targets for the toy, and streams that end.
//
//   const auto data = target_rows({1, 1, 1, 5});

#include <lope/dataset.h>

#include <memory>
#include <vector>

#include "support/toy.h"

namespace lope::testing {

inline TensorDataset target_rows(const std::vector<double>& values) { return TensorDataset(targets(values)); }

/// Passes over `size` rows with target 1.
class OnesStream : public IterableDataset {
 public:
  explicit OnesStream(int64_t size) : size_(size) {}

  std::unique_ptr<ExampleStream> begin(uint64_t /*seed*/, int64_t /*epoch*/) const override {
    return std::make_unique<Pass>(size_);
  }

 private:
  class Pass : public ExampleStream {
   public:
    explicit Pass(int64_t left) : left_(left) {}
    std::optional<Batch> next() override {
      if (left_-- <= 0) return std::nullopt;
      return Batch{{"y", at::ones({})}};
    }

   private:
    int64_t left_;
  };

  int64_t size_;
};

}  // namespace lope::testing
