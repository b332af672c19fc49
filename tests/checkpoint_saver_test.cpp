#include "../src/checkpoint_saver.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include "lope/checkpoint_folder.h"
#include "lope/checkpoints.h"
#include "support/temporary_folder.h"

namespace lope::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

CheckpointContents contents_of(const at::Tensor& tensor) {
  return {.tensors = {{"model.safetensors", {{"w", tensor}}}}, .texts = {{"progress.json", "{}"}}};
}

class CheckpointSaverTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ways, CheckpointSaverTest, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "InBackground" : "AtOnce"; });

TEST_P(CheckpointSaverTest, WritesWhatTheTensorsWereWhenItWasCalled) {
  const TemporaryFolder folder;
  CheckpointSaver saver({.in_background = GetParam()});
  at::Tensor weight = at::ones({1000});
  for (int step = 1; step <= 3; ++step) {
    saver.save(folder.path() / ("checkpoint-" + std::to_string(step)), contents_of(weight), {});
    weight.add_(1.0);
  }
  saver.wait();
  EXPECT_THAT(saver.take_outcomes(), SizeIs(3));
  EXPECT_THAT(saver.take_outcomes(), IsEmpty());
  for (int step = 1; step <= 3; ++step) {
    const CheckpointReader reader(folder.path() / ("checkpoint-" + std::to_string(step)));
    EXPECT_TRUE(reader.tensors("model.safetensors").at("w").equal(at::full({1000}, static_cast<double>(step))));
  }
}

TEST_P(CheckpointSaverTest, RemovesOldOnesOnceTheNewOneIsWhole) {
  const TemporaryFolder folder;
  CheckpointSaver saver({.in_background = GetParam(), .limit = 1});
  for (const char* name : {"checkpoint-5", "checkpoint-6", "checkpoint-7"}) {
    saver.save(folder.path() / name, contents_of(at::ones({1})), {folder.path() / "checkpoint-5"});
  }
  saver.wait();
  const auto left = list_checkpoints(folder.path());
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_EQ(left[0].step, 5);
  EXPECT_EQ(left[1].step, 7);
}

TEST_P(CheckpointSaverTest, NeverRemovesTheOneJustWrittenForOneWithAHigherNumber) {
  const TemporaryFolder folder;
  CheckpointSaver saver({.in_background = GetParam(), .limit = 1});
  saver.save(folder.path() / "checkpoint-900", contents_of(at::ones({1})), {});
  saver.save(folder.path() / "checkpoint-10", contents_of(at::ones({1})), {});
  saver.wait();
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "checkpoint-10"));
}

TEST_P(CheckpointSaverTest, AnErrorIsAnOutcomeAndTheNextSaveWorks) {
  const TemporaryFolder folder;
  write_text(folder / "file", "in the way");
  CheckpointSaver saver({.in_background = GetParam()});
  saver.save(folder.path() / "file" / "checkpoint-1", contents_of(at::ones({1})), {});
  saver.save(folder.path() / "checkpoint-2", contents_of(at::ones({1})), {});
  saver.wait();
  const auto outcomes = saver.take_outcomes();
  ASSERT_THAT(outcomes, SizeIs(2));
  EXPECT_THAT(outcomes[0].error, ::testing::HasSubstr((folder / "file")));
  EXPECT_EQ(outcomes[1].error, "");
}

TEST(HostCopies, UseTheSameMemoryAgain) {
  HostCopies copies;
  const at::Tensor weight = at::ones({64, 64});
  const void* first = copies.copy({{"m", {{"w", weight}}}}).at("m").at("w").const_data_ptr();
  const void* second = copies.copy({{"m", {{"w", weight}}}}).at("m").at("w").const_data_ptr();
  EXPECT_EQ(first, second);
  EXPECT_NE(first, weight.const_data_ptr());
}

TEST(HostCopies, FollowAChangedShapeAndKeepContiguousOrder) {
  HostCopies copies;
  copies.copy({{"m", {{"w", at::ones({4})}}}});
  const at::Tensor turned = at::ones({2, 3}).mul_(2).t();
  const at::Tensor copy = copies.copy({{"m", {{"w", turned}}}}).at("m").at("w");
  EXPECT_TRUE(copy.equal(turned));
  EXPECT_TRUE(copy.is_contiguous());
}

}  // namespace
}  // namespace lope::testing
