#pragma once
// A stream in an order that is random as far as a buffer reaches.
//
//   lope::ShuffledStream shuffled(stream, 10'000);
//   lope::Loader loader(shuffled, {.batch_size = 8, .seed = 42});

#include <cstdint>
#include <memory>

#include "lope/dataset.h"

namespace lope {

/// Holds `buffer_size` examples; each that is handed out is drawn from them and replaced by the stream's next. The
/// order is a function of seed and epoch (and the stream's own order) alone. The stream outlives it.
class ShuffledStream : public IterableDataset {
 public:
  /// Throws Error when `buffer_size` is below 1. With 1 the order is the stream's own.
  ShuffledStream(const IterableDataset& stream, int64_t buffer_size);

  std::unique_ptr<ExampleStream> begin(uint64_t seed, int64_t epoch) const override;

 private:
  const IterableDataset& stream_;
  int64_t buffer_size_;
};

}  // namespace lope
