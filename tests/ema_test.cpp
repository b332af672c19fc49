#include <gmock/gmock.h>
#include <lope/callbacks/ema.h>

#include "support/crashing_run.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/toy_trainer.h"

namespace lope::testing {
namespace {

double average(const Ema& ema) { return ema.averages().at("w").item<double>(); }

TEST(Ema, IsUpdatedOnceAnUpdateNotOnceAMicroBatch) {
  Toy toy;
  const auto data = target_rows(std::vector<double>(8, 1.0));
  auto arguments = toy_arguments();
  arguments.gradient_accumulation_steps = 4;
  const auto ema = std::make_shared<Ema>(toy.model, 0.5);
  train(toy, arguments, {.train_dataset = &data, .callbacks = {ema}});
  EXPECT_EQ(ema->updates(), 2);
  EXPECT_NEAR(average(*ema), 0.5 * (0.5 * 0.0 + 0.5 * 0.1) + 0.5 * 0.19, 1e-6);
}

TEST(Ema, SwapsAveragesAndWeightsAndBack) {
  Toy toy;
  Ema ema(toy.model, 0.9);
  toy.module->w.data().fill_(1.0);
  ema.update();
  ema.swap();
  EXPECT_NEAR(toy.w(), 0.1, 1e-6);
  EXPECT_NEAR(average(ema), 1.0, 1e-6);
  ema.swap();
  EXPECT_EQ(toy.w(), 1.0);
  EXPECT_NEAR(average(ema), 0.1, 1e-6);
}

TEST(Ema, GoesOnFromACheckpointAndBeginsAnewWithoutOne) {
  const TemporaryFolder folder;
  const auto data = numbered_rows(11);
  const auto averages_after = [&](const std::string& name, const std::string& resume, int64_t crash_after) {
    DropoutNet net = DropoutNet::seeded();
    const auto ema = std::make_shared<Ema>(Model(net.net), 0.8);
    std::vector<std::shared_ptr<Callback>> callbacks{ema};
    if (crash_after > 0) callbacks.push_back(std::make_shared<CrashAfter>(crash_after));
    Trainer trainer(resumable_arguments(folder / name), net.net, net.loss(),
                    {.train_dataset = &data, .callbacks = callbacks, .default_callbacks = false});
    if (crash_after > 0) {
      EXPECT_THROW(trainer.train(resume), std::runtime_error);
    } else {
      trainer.train(resume);
      EXPECT_EQ(ema->updates(), 20);
    }
    return ema->averages();
  };
  const TensorMap whole = averages_after("whole", "", 0);
  averages_after("broken", "", 13);
  expect_same_weights(averages_after("broken", "true", 0), whole);
  expect_same_weights(averages_after("whole", "", 0), whole);
}

TEST(Ema, RefusesADecayAndAStateThatCannotBe) {
  Toy toy;
  EXPECT_EQ(error_of([&] { Ema ema(toy.model, 1.0); }), "the decay of Ema is 1: it must be from 0 to below 1");
  Ema ema(toy.model);
  EXPECT_EQ(error_of([&] { ema.load_tensors({{"v", at::zeros({1})}}); }),
            "the state of Ema has no average of \"w\" in its shape: it is another model's");
  EXPECT_EQ(error_of([&] { ema.load_state("{}"); }), "updates is missing: it is not a whole state of Ema");
}

}  // namespace
}  // namespace lope::testing
