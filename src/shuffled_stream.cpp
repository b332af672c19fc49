#include "lope/shuffled_stream.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "lope/error.h"
#include "lope/seed.h"

namespace lope {
namespace {

class ShuffledPass : public ExampleStream {
 public:
  ShuffledPass(std::unique_ptr<ExampleStream> stream, int64_t buffer_size, uint64_t seed)
      : stream_(std::move(stream)), buffer_size_(static_cast<size_t>(buffer_size)), seed_(seed) {}

  std::optional<Batch> next() override {
    fill();
    if (buffer_.empty()) return std::nullopt;
    std::swap(buffer_[derive_seed(seed_, drawn_++) % buffer_.size()], buffer_.back());
    Batch example = std::move(buffer_.back());
    buffer_.pop_back();
    return example;
  }

 private:
  /// An exception of the stream leaves what was read before it in the buffer.
  void fill() {
    while (!ended_ && buffer_.size() < buffer_size_) {
      auto example = stream_->next();
      ended_ = !example;
      if (example) buffer_.push_back(std::move(*example));
    }
  }

  std::unique_ptr<ExampleStream> stream_;
  size_t buffer_size_;
  uint64_t seed_;
  uint64_t drawn_ = 0;
  bool ended_ = false;
  std::vector<Batch> buffer_;
};

}  // namespace

ShuffledStream::ShuffledStream(const IterableDataset& stream, int64_t buffer_size)
    : stream_(stream), buffer_size_(buffer_size) {
  if (buffer_size < 1) throw Error(fmt::format("shuffle buffer: its size is {}: it must be 1 or more", buffer_size));
}

std::unique_ptr<ExampleStream> ShuffledStream::begin(uint64_t seed, int64_t epoch) const {
  return std::make_unique<ShuffledPass>(stream_.begin(seed, epoch), buffer_size_,
                                        derive_seed(seed, static_cast<uint64_t>(epoch)));
}

}  // namespace lope
