// What threads add to a loader: nothing that the caller can see, but speed.

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <lope/loader.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/crashing_run.h"
#include "support/device_test.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope::testing {
namespace {

using Ids = std::vector<int64_t>;

constexpr int64_t kManyWorkers = 4;

/// Single examples whose preparation takes a while that differs, and that may fail.
struct Uneven : Dataset {
  explicit Uneven(int64_t rows) : rows_(rows) {}
  int64_t size() const override { return rows_; }
  Batch get(int64_t index) const override {
    if (index == bad) throw std::runtime_error("no such picture");
    if (index == strange) throw 42;  // NOLINT(hicpp-exception-baseclass)
    if (index % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    ++prepared;
    return {{"id", at::full({}, index, at::kLong)}};
  }
  int64_t rows_;
  int64_t bad = -1;
  int64_t strange = -1;
  mutable std::atomic<int64_t> prepared{0};
};

/// Rows with noise that the loader's generator gives.
struct Noisy : Uneven {
  using Uneven::Uneven;
  bool augments() const override { return true; }
  Batch get_augmented(int64_t index, at::Generator generator) const override {
    return {{"id", at::full({}, index, at::kLong)}, {"noise", at::rand({3}, generator)}};
  }
};

/// Waits in example `where` until it is let go.
struct Gate : Dataset {
  int64_t size() const override { return 12; }
  Batch get(int64_t index) const override {
    std::unique_lock lock(mutex);
    if (index == where) {
      waiting = true;
      changed.notify_all();
      changed.wait(lock, [this] { return open; });
    }
    return {{"id", at::full({}, index, at::kLong)}};
  }
  void wait_until_reached() const {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return waiting; });
  }
  void let_go() const {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  int64_t where = 4;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  mutable bool waiting = false;
  mutable bool open = false;
};

struct Numbers : IterableDataset {
  struct Pass : ExampleStream {
    Pass(int64_t rows, int64_t failing) : size(rows), bad(failing) {}
    std::optional<Batch> next() override {
      if (position == bad && !std::exchange(thrown, true)) throw std::runtime_error("connection lost");
      return position < size ? std::optional(Batch{{"id", at::full({}, position++, at::kLong)}}) : std::nullopt;
    }
    int64_t size;
    int64_t bad;
    int64_t position = 0;
    bool thrown = false;
  };
  std::unique_ptr<ExampleStream> begin(uint64_t, int64_t) const override { return std::make_unique<Pass>(size, bad); }
  int64_t size = 11;
  int64_t bad = -1;
};

void add_ids(Ids& ids, const Batch& batch) {
  for (int64_t row = 0; row < batch.rows(); ++row) ids.push_back(batch["id"][row].item<int64_t>());
}

Ids ids_left(Loader& loader) {
  Ids ids;
  while (const auto batch = loader.next()) add_ids(ids, *batch);
  return ids;
}

Ids epoch(Loader& loader, int64_t number) {
  loader.seek({.epoch = number});
  return ids_left(loader);
}

TEST(LoaderWorkers, GiveTheSameBatchesForEveryNumberOfThem) {
  const Uneven data(50);
  Loader alone(data, {.batch_size = 4});
  const Ids first = epoch(alone, 0);
  const Ids second = epoch(alone, 1);
  for (const int64_t workers : {1, 2, 4, 9}) {
    for (const bool persistent : {false, true}) {
      Loader loader(data, {.batch_size = 4, .num_workers = workers, .persistent_workers = persistent});
      EXPECT_EQ(epoch(loader, 0), first) << workers;
      EXPECT_EQ(loader.next().has_value(), false);
      EXPECT_EQ(epoch(loader, 1), second) << workers;
    }
  }
}

TEST(LoaderWorkers, GiveTheSameRandomExamplesAlsoAfterAJump) {
  const Noisy data(20);
  Loader alone(data, {.batch_size = 5, .augment = true});
  std::vector<at::Tensor> noise;
  while (const auto batch = alone.next()) noise.push_back((*batch)["noise"]);
  EXPECT_FALSE(noise[0].equal(noise[1]));
  for (const int64_t workers : {0, 1, 3}) {
    Loader loader(data, {.batch_size = 5, .augment = true, .num_workers = workers});
    loader.seek({.examples = 10});
    EXPECT_TRUE((*loader.next())["noise"].equal(noise[2])) << workers;
    loader.seek({.epoch = 1});
    EXPECT_FALSE((*loader.next())["noise"].equal(noise[0])) << workers;
  }
  Loader plain(data, {.batch_size = 5});
  EXPECT_FALSE(plain.next()->contains("noise"));
}

TEST(LoaderWorkers, PositionCountsWhatWasHandedOut) {
  const Uneven data(40);
  Loader loader(data, {.batch_size = 4, .num_workers = kManyWorkers});
  EXPECT_EQ(loader.position(), LoaderPosition{});
  loader.next();
  loader.next();
  EXPECT_EQ(loader.position(), (LoaderPosition{.examples = 8}));
  const Ids rest = ids_left(loader);
  Loader resumed(data, {.batch_size = 4, .num_workers = 2});
  resumed.seek({.examples = 8});
  EXPECT_EQ(ids_left(resumed), rest);
}

TEST(LoaderWorkers, PrepareNoMoreThanTheyAreAllowedTo) {
  const Uneven data(1000);
  Loader loader(data, {.batch_size = 1, .num_workers = 2, .prefetch_factor = 3});
  loader.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LE(data.prepared, 1 + 2 * 3);
}

TEST(LoaderWorkers, CanBeLeftSoughtAndDestroyedAtAnyMoment) {
  const Uneven data(200);
  Loader alone(data, {.batch_size = 3});
  const Ids whole = epoch(alone, 2);
  for (int64_t after = 0; after < 8; ++after) {
    Loader loader(data, {.batch_size = 3, .num_workers = kManyWorkers});
    for (int64_t i = 0; i < after; ++i) loader.next();
    loader.seek({.epoch = 1, .examples = 30});
    loader.next();
    EXPECT_EQ(epoch(loader, 2), whole);
  }
}

TEST(LoaderWorkers, AFailingExampleIsNamedAndTheNextEpochWorks) {
  Uneven data(30);
  for (const int64_t workers : {0, 1, 4}) {
    data.bad = 17;
    Loader loader(data, {.batch_size = 4, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = workers});
    for (int64_t i = 0; i < 4; ++i) ASSERT_TRUE(loader.next().has_value());
    for (int repeated = 0; repeated < 2; ++repeated) {
      EXPECT_EQ(error_of([&] { loader.next(); }), "data set: example 17: no such picture") << workers;
    }
    EXPECT_EQ(loader.position(), (LoaderPosition{.examples = 16}));
    data.bad = -1;
    EXPECT_EQ(ids_left(loader).size(), 14);
    EXPECT_EQ(epoch(loader, 1).size(), 30);
  }
}

TEST(LoaderWorkers, AnExceptionThatIsNoneOfTheStandardOnesIsPassedOnToo) {
  Uneven data(10);
  data.strange = 2;
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, {.batch_size = 5, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = workers});
    EXPECT_EQ(error_of([&] { loader.next(); }), "data set: example 2: an exception of unknown type");
  }
}

TEST(LoaderWorkers, ATimeoutNamesTheWorkerAndTheBatchIsNotLost) {
  const Gate data;
  Loader loader(
      data, {.batch_size = 3, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = 1, .timeout = 0.02});
  Ids ids;
  add_ids(ids, *loader.next());
  data.wait_until_reached();
  EXPECT_EQ(
      error_of([&] { loader.next(); }),
      "loader: worker 0 is still at examples 3 to 5 of epoch 0 after 0.02 s: raise the timeout, or look at what the "
      "data set does there");
  data.let_go();
  while (ids.size() < 12) {
    try {
      const auto batch = loader.next();
      add_ids(ids, *batch);
    } catch (const Error&) {  // a busy machine may be late once more
      continue;
    }
  }
  EXPECT_EQ(ids, (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(LoaderWorkers, AJumpDoesNotWaitForASlowWorker) {
  const Gate data;
  Loader loader(data, {.batch_size = 3, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = 2});
  loader.next();
  data.wait_until_reached();
  loader.seek({.examples = 9});
  EXPECT_EQ(ids_left(loader), (Ids{9, 10, 11}));
  data.let_go();
}

TEST(LoaderWorkers, BuildNoGraphs) {
  struct Parameters : Dataset {
    at::Tensor weight = at::ones({2}).requires_grad_();
    int64_t size() const override { return 4; }
    Batch get(int64_t) const override { return {{"x", weight * 2.0}}; }
  } data;
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, {.num_workers = workers});
    EXPECT_FALSE((*loader.next())["x"].requires_grad());
  }
}

TEST(LoaderWorkers, RefuseWhatCannotBe) {
  const Uneven data(4);
  const auto error = [&](const LoaderOptions& options) { return error_of([&] { Loader loader(data, options); }); };
  EXPECT_EQ(error({.num_workers = -1}), "num_workers is -1: it must be 0 or more");
  EXPECT_EQ(error({.num_workers = 1, .prefetch_factor = 0}), "prefetch_factor is 0: it must be 1 or more");
  EXPECT_EQ(error({.timeout = -2.0}), "timeout is -2: it must be 0 or more");
}

TEST(StreamWorkers, ReadTheStreamInItsOrder) {
  const Numbers stream;
  for (const int64_t workers : {0, 1, 4}) {
    Loader loader(stream, {.batch_size = 3, .num_workers = workers});
    const Ids all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    EXPECT_EQ(ids_left(loader), all) << workers;
    EXPECT_EQ(loader.position().examples, 11);
    EXPECT_FALSE(loader.next().has_value());
    EXPECT_EQ(epoch(loader, 1), all) << workers;
    loader.seek({.epoch = 1, .examples = 6});
    EXPECT_EQ(ids_left(loader), (Ids{6, 7, 8, 9, 10})) << workers;
  }
}

TEST(StreamWorkers, AFailingExampleIsNamedAndNoOtherIsLost) {
  Numbers stream;
  stream.bad = 4;
  for (const int64_t workers : {0, 1, 3}) {
    Loader loader(stream, {.batch_size = 3, .num_workers = workers});
    Ids ids;
    add_ids(ids, *loader.next());
    EXPECT_EQ(error_of([&] { loader.next(); }), "stream: example 4 of epoch 0: connection lost") << workers;
    EXPECT_EQ(loader.position().examples, 3);
    for (const int64_t id : ids_left(loader)) ids.push_back(id);
    EXPECT_EQ(ids, (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})) << workers;
  }
}

TEST(StreamWorkers, CanBeLeftAtAnyMoment) {
  const Numbers stream;
  for (int64_t after = 0; after < 4; ++after) {
    Loader loader(stream, {.batch_size = 2, .num_workers = 2});
    for (int64_t i = 0; i < after; ++i) loader.next();
    loader.seek({.epoch = 3});
    EXPECT_EQ(ids_left(loader).size(), 11);
  }
}

class LoaderDevice : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, LoaderDevice, every_device(), device_name);

TEST_P(LoaderDevice, HandsOutTheSameBatchesThere) {
  const auto data = numbered_rows(64);
  Loader plain(data, {.batch_size = 4});
  for (const int64_t workers : {0, 2}) {
    Loader loader(data, {.batch_size = 4, .pin_memory = true, .num_workers = workers, .device = device()});
    plain.seek({});
    int64_t handed_out = 0;
    while (const auto batch = loader.next()) {
      EXPECT_TRUE(batch->is_on(device()));
      EXPECT_TRUE((*batch)["x"].cpu().equal((*plain.next())["x"]));
      handed_out += batch->rows();
      EXPECT_EQ(loader.position().examples, handed_out);
    }
    EXPECT_EQ(handed_out, 64);
  }
}

TEST(LoaderWorkers, ChangeNoBitOfATraining) {
  const Noisy noisy(24);
  struct Rows : Dataset {
    explicit Rows(const Noisy& source) : noise(source) {}
    int64_t size() const override { return noise.size(); }
    bool augments() const override { return true; }
    Batch get(int64_t index) const override { return get_augmented(index, at::Generator()); }
    Batch get_augmented(int64_t index, at::Generator generator) const override {
      const at::Tensor x = at::rand({6}, std::move(generator));
      return {{"x", x}, {"y", x.sum(0, true)}, {"id", at::full({}, index, at::kLong)}};
    }
    const Noisy& noise;
  } data(noisy);
  const TemporaryFolder folder;
  auto arguments = resumable_arguments(folder / "run");
  arguments.save_strategy = "no";
  const RunResult alone = run_training(arguments, data);
  for (const int64_t workers : {1, 2, 4}) {
    arguments.dataloader_num_workers = workers;
    expect_same_run(run_training(arguments, data), alone);
  }
}

}  // namespace
}  // namespace lope::testing
