#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>
#include <lope/loader.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/error_of.h"
#include "support/loader_data.h"
#include "support/threads.h"

namespace lope {
namespace {

using namespace lope::testing;
using namespace std::chrono_literals;

/// Calls a function before it gives an example.
struct Watched : Dataset {
  explicit Watched(
      int64_t examples, std::function<void(int64_t)> on_get = [](int64_t) {})
      : count(examples), before(std::move(on_get)) {}
  int64_t size() const override { return count; }
  Batch get(int64_t index) const override {
    before(index);
    return {{"id", at::full({}, index, at::kLong)}};
  }
  int64_t count;
  std::function<void(int64_t)> before;
};

/// Closed at first: who comes waits until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    if (!opened_.exchange(true)) promise_.set_value();
  }
  void pass() const { future_.wait(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
  std::atomic<bool> opened_ = false;
};

/// Earlier examples take longer than later ones.
void earlier_is_slower(int64_t index) { std::this_thread::sleep_for(std::chrono::microseconds(40 * (40 - index))); }

class LoaderWorkers : public ::testing::TestWithParam<int64_t> {
 protected:
  LoaderOptions in_order(int64_t batch_size) const {
    return {.batch_size = batch_size, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = GetParam()};
  }
};

TEST_P(LoaderWorkers, GiveTheSameBatchesInTheSameOrderAsTheCallerAlone) {
  const Watched alone(40);
  Loader expected(alone, {.batch_size = 3});
  const Watched data(40, earlier_is_slower);
  Loader loader(data, {.batch_size = 3, .num_workers = GetParam()});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    expected.seek({.epoch = epoch});
    loader.seek({.epoch = epoch});
    EXPECT_EQ(batches_left(loader), batches_left(expected)) << "epoch " << epoch;
  }
}

TEST_P(LoaderWorkers, CountWhatWasHandedOutAndNotWhatIsLoadedAhead) {
  const auto data = numbers(20);
  Loader loader(data, {.batch_size = 3, .num_workers = GetParam()});
  loader.next();
  loader.next();
  EXPECT_EQ(loader.position(), (LoaderPosition{.epoch = 0, .examples = 6}));
  Loader resumed(data, {.batch_size = 3});
  resumed.seek(loader.position());
  EXPECT_EQ(batches_left(loader), batches_left(resumed));
}

TEST_P(LoaderWorkers, GoElsewhereInMidFlight) {
  const Watched data(40, earlier_is_slower);
  Loader loader(data, in_order(2));
  for (int64_t round = 0; round < 5; ++round) {
    loader.next();
    loader.seek({.epoch = round, .examples = 30 + round});
    EXPECT_EQ(ids_of(*loader.next()), (Ids{30 + round, 31 + round}));
  }
  loader.seek({.epoch = 9, .examples = 36});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{36, 37}, {38, 39}}));
}

TEST_P(LoaderWorkers, StayAtTheEndOfTheirEpochUntilTheyAreMoved) {
  const auto data = numbers(2);
  Loader loader(data, in_order(2));
  EXPECT_TRUE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  loader.seek({.epoch = 1});
  EXPECT_TRUE(loader.next().has_value());
}

TEST_P(LoaderWorkers, NameTheExampleThatFailsAndGoOnWithIt) {
  std::atomic<bool> broken = true;
  const Watched data(10, [&](int64_t index) {
    if (index == 3 && broken) throw std::runtime_error("no such picture\nand a second line");
  });
  Loader loader(data, in_order(2));
  loader.next();
  EXPECT_EQ(error_of([&] { loader.next(); }), "data set: example 3: no such picture");
  EXPECT_EQ(error_of([&] { loader.next(); }), "data set: example 3: no such picture");
  EXPECT_EQ(loader.position().examples, 2);
  broken = false;
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{2, 3}, {4, 5}, {6, 7}, {8, 9}}));
}

TEST_P(LoaderWorkers, NameAnExampleThatThrowsNoException) {
  const Watched data(4, [](int64_t index) {
    if (index == 1) throw 42;  // NOLINT(misc-throw-by-value-catch-by-reference,hicpp-exception-baseclass)
  });
  Loader loader(data, in_order(2));
  EXPECT_EQ(error_of([&] { loader.next(); }), "data set: example 1: something was thrown that is not a std::exception");
  loader.seek({.epoch = 0, .examples = 2});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{2, 3}}));
}

TEST_P(LoaderWorkers, NameWhatACollatorRefuses) {
  const Watched data(4);
  LoaderOptions options = in_order(2);
  options.collator = [](std::span<const Batch> examples) {
    if (examples.front()["id"].item<int64_t>() == 2) throw std::runtime_error("too long");
    return stack_examples(examples);
  };
  Loader loader(data, options);
  EXPECT_TRUE(loader.next().has_value());
  EXPECT_EQ(error_of([&] { loader.next(); }), "loader: examples 2 to 3 of epoch 0: too long");
}

TEST_P(LoaderWorkers, BuildNoGraph) {
  std::atomic<int> with_gradients = 0;
  const Watched data(4, [&](int64_t) { with_gradients += at::GradMode::is_enabled() ? 1 : 0; });
  Loader loader(data, in_order(2));
  batches_left(loader);
  EXPECT_EQ(with_gradients, 0);
  EXPECT_TRUE(at::GradMode::is_enabled());
}

TEST_P(LoaderWorkers, ReadAStreamInItsOrder) {
  Counter data;
  data.size = 25;
  Loader loader(data, {.batch_size = 2, .num_workers = GetParam()});
  Loader expected(data, {.batch_size = 2});
  EXPECT_EQ(batches_left(loader), batches_left(expected));
  loader.seek({.epoch = 1, .examples = 20});
  EXPECT_EQ(ids_of(*loader.next()), (Ids{120, 121}));
  EXPECT_EQ(loader.position(), (LoaderPosition{.epoch = 1, .examples = 22}));
  loader.seek({.epoch = 2, .examples = 22});
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{222, 223}, {224}}));
}

TEST_P(LoaderWorkers, LoseNoOtherExampleOfAStreamWhenOneFails) {
  Counter data;
  data.bad = 3;
  Loader loader(data, {.batch_size = 2, .num_workers = GetParam()});
  loader.next();
  EXPECT_EQ(error_of([&] { loader.next(); }), "stream: example 3 of epoch 0: connection lost");
  EXPECT_EQ(loader.position().examples, 2);
  EXPECT_EQ(batches_left(loader), (std::vector<Ids>{{2, 3}, {4}}));
}

INSTANTIATE_TEST_SUITE_P(Numbers, LoaderWorkers, ::testing::Values(0, 1, 2, 4));

TEST(LoaderThreads, LoadNoFurtherAheadThanAsked) {
  std::atomic<int64_t> started = 0;
  const Watched data(100, [&](int64_t) { ++started; });
  Loader loader(data, {.batch_size = 1, .num_workers = 2, .prefetch_factor = 3});
  for (int64_t taken = 1; taken <= 20; ++taken) {
    loader.next();
    std::this_thread::sleep_for(1ms);
    EXPECT_LE(started, taken + 6);
  }
}

TEST(LoaderThreads, LoadAheadWhileTheCallerIsBusy) {
  std::atomic<int64_t> started = 0;
  const Watched data(100, [&](int64_t) { ++started; });
  Loader loader(data, {.batch_size = 1, .num_workers = 2, .prefetch_factor = 3});
  loader.next();
  while (started < 7) std::this_thread::yield();
  EXPECT_EQ(loader.position().examples, 1);
}

TEST(LoaderThreads, AreSeveral) {
  Gate gate;
  std::atomic<int> inside = 0;
  const Watched data(4, [&](int64_t) {
    if (++inside == 2) gate.open();
    gate.pass();
  });
  Loader loader(data, {.batch_size = 1, .num_workers = 2});
  EXPECT_EQ(batches_left(loader).size(), 4U);
}

TEST(LoaderThreads, ATimeoutNamesTheWorkerAndItsExample) {
  Gate gate;
  const Watched data(4, [&](int64_t index) {
    if (index == 1) gate.pass();
  });
  Loader loader(
      data, {.batch_size = 2, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = 1, .timeout = 0.05});
  EXPECT_EQ(error_of([&] { loader.next(); }),
            "loader: worker 0 is at example 1 and gave no micro-batch for 0.05 s: look at what keeps this example, or "
            "raise timeout");
  gate.open();
  std::optional<Batch> batch;
  while (!batch) error_of([&] { batch = loader.next(); });
  EXPECT_EQ(ids_of(*batch), (Ids{0, 1}));
  EXPECT_EQ(loader.position().examples, 2);
}

TEST(LoaderThreads, AnotherPlaceDoesNotWaitForASlowExample) {
  Gate gate;
  const Watched data(10, [&](int64_t index) {
    if (index == 0) gate.pass();
  });
  Loader loader(
      data, {.batch_size = 1, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = 2, .timeout = 0.01});
  EXPECT_NE(error_of([&] { loader.next(); }), "no error");
  loader.seek({.epoch = 0, .examples = 8});
  std::optional<Batch> batch;
  while (!batch) error_of([&] { batch = loader.next(); });
  EXPECT_EQ(ids_of(*batch), (Ids{8}));
  gate.open();
}

TEST(LoaderThreads, ALoaderThatGoesWaitsForOneExampleOnly) {
  std::atomic<int64_t> started = 0;
  std::atomic<bool> leaving = false;
  const Watched data(1000, [&](int64_t) {
    ++started;
    while (!leaving) std::this_thread::yield();
  });
  std::thread opener;
  {
    Loader loader(data, {.batch_size = 500, .num_workers = 2, .timeout = 0.001});
    error_of([&] { loader.next(); });
    opener = std::thread([&] {
      std::this_thread::sleep_for(20ms);
      leaving = true;
    });
  }
  opener.join();
  EXPECT_LT(started, 1000);
}

TEST(LoaderThreads, EndAtOnceWhetherOrNotAnyoneAsked) {
  const Watched data(100, earlier_is_slower);
  for (int64_t taken = 0; taken < 4; ++taken) {
    Loader loader(data, {.batch_size = 3, .num_workers = 4});
    for (int64_t i = 0; i < taken; ++i) EXPECT_TRUE(loader.next().has_value());
  }
}

TEST(LoaderThreads, AFailureThatNobodyTakesIsForgotten) {
  const Watched data(100, [](int64_t index) {
    if (index > 0) throw std::runtime_error("broken");
  });
  Loader loader(data, {.batch_size = 1, .sampling_strategy = SamplingStrategy::kSequential, .num_workers = 2});
  EXPECT_TRUE(loader.next().has_value());
  loader.seek({.epoch = 1});
  EXPECT_EQ(ids_of(*loader.next()), (Ids{0}));
}

std::atomic<int> threads_ended = 0;

struct CountsItsThreadsEnd {
  ~CountsItsThreadsEnd() { ++threads_ended; }
};

/// Threads that have ended when two epochs have been read to their ends.
int threads_ended_after_two_epochs(bool persistent) {
  threads_ended = 0;
  const Watched data(50, [](int64_t) { thread_local const CountsItsThreadsEnd counted; });
  Loader loader(data, {.batch_size = 1, .num_workers = 1, .persistent_workers = persistent});
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    loader.seek({.epoch = epoch});
    EXPECT_EQ(ids_left(loader).size(), 50U);
  }
  return threads_ended;
}

TEST(LoaderThreads, PersistentOnesStayForTheNextEpoch) { EXPECT_EQ(threads_ended_after_two_epochs(true), 0); }

TEST(LoaderThreads, OthersEndWithTheirEpochAndNewOnesComeForTheNext) {
  EXPECT_EQ(threads_ended_after_two_epochs(false), 2);
}

TEST(LoaderThreads, UseOneThreadForTheirKernelsAndLeaveTheOthersTheirs) {
  with_threads(3, [] {
    std::mutex mutex;
    std::set<int> numbers;
    const Watched data(20, [&](int64_t) {
      at::rand({100'000}).exp();
      const std::lock_guard lock(mutex);
      numbers.insert(at::get_num_threads());
    });
    Loader loader(data, {.batch_size = 1, .num_workers = 2});
    EXPECT_EQ(ids_left(loader).size(), 20U);
    EXPECT_EQ(numbers, std::set<int>{1});
    EXPECT_EQ(at::get_num_threads(), 3);
    int later = 0;
    std::thread([&] {
      at::internal::lazy_init_num_threads();
      later = at::get_num_threads();
    }).join();
    EXPECT_EQ(later, 3);
  });
}

TEST(LoaderThreads, ALoaderCanBeMovedWhileTheyWork) {
  const Watched data(40, earlier_is_slower);
  Loader first(data, {.batch_size = 3, .num_workers = 2});
  const Ids begin = ids_of(*first.next());
  Loader second = std::move(first);
  Ids all = begin;
  for (const int64_t id : ids_left(second)) all.push_back(id);
  EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), 40U);
}

TEST(LoaderThreads, OptionsThatMakeNoSenseAreRefused) {
  const auto data = numbers(3);
  const auto refusal = [&](LoaderOptions options) { return error_of([&] { Loader(data, options); }); };
  EXPECT_EQ(refusal({.num_workers = -1}), "num_workers is -1: it must be 0 or more");
  EXPECT_EQ(refusal({.num_workers = 1, .prefetch_factor = 0}), "prefetch_factor is 0: it must be 1 or more");
  EXPECT_EQ(refusal({.num_workers = 1, .timeout = -0.5}), "timeout is -0.5: it must be 0 or more");
  EXPECT_EQ(refusal({.persistent_workers = true}),
            "persistent_workers is true and num_workers is 0: set num_workers above 0");
  EXPECT_EQ(refusal({.collator = nullptr}), "loader: there is no collator: give one, or leave out the option");
}

}  // namespace
}  // namespace lope
