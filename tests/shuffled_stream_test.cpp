#include "lope/shuffled_stream.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <lope/loader.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

/// 0, 1, 2 …; throws once at `bad`.
class Counting : public IterableDataset {
 public:
  explicit Counting(int64_t size, int64_t bad = -1) : size_(size), bad_(bad) {}
  std::unique_ptr<ExampleStream> begin(uint64_t /*seed*/, int64_t /*epoch*/) const override {
    return std::make_unique<Pass>(size_, bad_);
  }

 private:
  class Pass : public ExampleStream {
   public:
    Pass(int64_t size, int64_t bad) : size_(size), bad_(bad) {}
    std::optional<Batch> next() override {
      if (at_ >= size_) return std::nullopt;
      if (at_ == std::exchange(bad_, at_ == bad_ ? -1 : bad_)) throw Error("bad");
      return Batch{{"y", at::full({}, at_++, at::kLong)}};
    }

   private:
    int64_t size_;
    int64_t bad_;
    int64_t at_ = 0;
  };

  int64_t size_;
  int64_t bad_;
};

std::vector<int64_t> rest(ExampleStream& stream) {
  std::vector<int64_t> order;
  while (const auto example = stream.next()) order.push_back((*example)["y"].item<int64_t>());
  return order;
}

std::vector<int64_t> order(int64_t size, int64_t buffer, uint64_t seed = 1, int64_t epoch = 0) {
  const Counting stream(size);
  return rest(*ShuffledStream(stream, buffer).begin(seed, epoch));
}

std::vector<int64_t> counted(int64_t size) {
  std::vector<int64_t> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(ShuffledStream, LosesNothingAndRepeatsNothing) {
  for (const int64_t buffer : {1, 3, 20, 100}) {
    auto found = order(20, buffer);
    std::ranges::sort(found);
    EXPECT_EQ(found, counted(20)) << buffer;
  }
}

TEST(ShuffledStream, AnExampleComesNoEarlierThanTheBufferReaches) {
  const auto found = order(1000, 10);
  EXPECT_NE(found, counted(1000));
  for (size_t at = 0; at < found.size(); ++at) EXPECT_LE(found[at], static_cast<int64_t>(at) + 9);
}

TEST(ShuffledStream, ABufferOfOneKeepsTheOrder) { EXPECT_EQ(order(20, 1), counted(20)); }

TEST(ShuffledStream, ABufferAsLargeAsTheStreamPutsAnythingFirst) {
  std::vector<int64_t> firsts;
  for (uint64_t seed = 0; seed < 200; ++seed) firsts.push_back(order(5, 5, seed).front());
  for (const int64_t value : counted(5)) EXPECT_GT(std::ranges::count(firsts, value), 20) << value;
}

TEST(ShuffledStream, TheOrderIsAFunctionOfSeedAndEpoch) {
  EXPECT_EQ(order(50, 10, 1, 2), order(50, 10, 1, 2));
  EXPECT_NE(order(50, 10, 1, 2), order(50, 10, 2, 2));
  EXPECT_NE(order(50, 10, 1, 2), order(50, 10, 1, 3));
}

TEST(ShuffledStream, AnEmptyStreamStaysEmpty) { EXPECT_TRUE(order(0, 4).empty()); }

TEST(ShuffledStream, AnErrorOfTheStreamLosesNothing) {
  const Counting stream(6, 2);
  const auto pass = ShuffledStream(stream, 4).begin(1, 0);
  EXPECT_EQ(error_of([&] { pass->next(); }), "bad");
  auto found = rest(*pass);
  std::ranges::sort(found);
  EXPECT_EQ(found, counted(6));
}

TEST(ShuffledStream, ALoaderGoesOnInItsMiddle) {
  const Counting stream(20);
  const ShuffledStream shuffled(stream, 8);
  Loader whole(shuffled, {.batch_size = 4, .seed = 5});
  whole.next();
  const at::Tensor second = (*whole.next())["y"];
  Loader again(shuffled, {.batch_size = 4, .seed = 5});
  again.seek({.epoch = 0, .examples = 4});
  EXPECT_TRUE((*again.next())["y"].equal(second));
}

TEST(ShuffledStream, ABufferBelowOneIsRefused) {
  const Counting stream(2);
  EXPECT_EQ(error_of([&] { ShuffledStream(stream, 0); }), "shuffle buffer: its size is 0: it must be 1 or more");
}

}  // namespace
}  // namespace lope
