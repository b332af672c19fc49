// No update in fp32 or bf16 reads a device's value on the host, and none but one in fp16.
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <lope/gradients.h>
#include <lope/stepper.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "support/device_test.h"
#include "support/host_reads.h"
#include "support/optimizer_kinds.h"

namespace lope {
namespace {

using testing::HostReads;

class HostReadsOnDevice : public testing::DeviceTest {
 protected:
  /// Reads in four calls of `accumulate` and one of `update`, after a first window has set everything up.
  std::pair<int, std::string> reads(const testing::OptimizerKind& kind, const StepperOptions& options) const {
    torch::nn::Linear linear(3, 4);
    Model model(linear);
    model.to(device());
    const auto optimizer = kind.make(parameter_groups(model, 0.1));
    const LossFunction loss = [&](const Batch& batch) {
      return cross_entropy(linear->forward(batch["x"]), batch["y"]);
    };
    Stepper stepper(model, *optimizer, loss, [](int64_t) { return 0.1; }, options);
    const Batch batch = Batch{{"x", at::randn({2, 3})}, {"y", at::ones({2}, at::kLong)}}.to(device());
    const std::vector<Batch> window(4, batch);
    stepper.step(window);

    const HostReads counter;
    for (const auto& micro_batch : window) stepper.accumulate(micro_batch);
    stepper.update();
    return {counter.count(), counter.names()};
  }
};

TEST_P(HostReadsOnDevice, NoneInSingleOrBrainPrecision) {
  for (const auto& kind : testing::optimizer_kinds()) {
    for (const auto precision : {Precision::kFp32, Precision::kBf16}) {
      for (const double max_value : {0.0, 1.0}) {
        const auto [count, names] = reads(kind, {.precision = precision, .max_grad_value = max_value});
        EXPECT_EQ(count, 0) << kind.name << ": " << names;
      }
    }
  }
}

TEST_P(HostReadsOnDevice, AtMostOneInHalfPrecision) {
  for (const auto& kind : testing::optimizer_kinds()) {
    const auto [count, names] = reads(kind, {.precision = Precision::kFp16});
    EXPECT_LE(count, 1) << kind.name << ": " << names;
  }
}

TEST_P(HostReadsOnDevice, NoneInClippingByHand) {
  const std::vector<at::Tensor> gradients{at::randn({3, 4}).to(device()), at::randn({5}).to(device())};
  const HostReads counter;
  clip_grad_norm_(gradients, 1.0);
  clip_grad_value_(gradients, 0.1);
  EXPECT_EQ(counter.count(), 0) << counter.names();
}

TEST_P(HostReadsOnDevice, TheCounterSeesARead) {
  const at::Tensor value = at::ones({1}).to(device());
  const HostReads counter;
  value.item<double>();
  value.is_nonzero();
  EXPECT_EQ(counter.count(), 2) << counter.names();
}

INSTANTIATE_TEST_SUITE_P(Devices, HostReadsOnDevice, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace lope
