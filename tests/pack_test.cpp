#include "lope/pack.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/loss.h>

#include <vector>

#include "support/error_of.h"

namespace lope {
namespace {

using testing::error_of;

at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

Batch example(const std::vector<int64_t>& ids) { return {{"input_ids", longs(ids)}}; }

/// An example of `length` tokens, all `value`.
Batch tokens(int64_t length, int64_t value) { return {{"input_ids", at::full({length}, value, at::kLong)}}; }

Batch pack(const std::vector<Batch>& examples, int64_t length) { return PackCollator({.length = length})(examples); }

TEST(PackCollator, PutsShortExamplesBehindEachOther) {
  const Batch batch = pack({example({5, 6, 7}), example({8, 9})}, 7);
  EXPECT_TRUE(batch["input_ids"].equal(longs({5, 6, 7, 8, 9, 0, 0}).reshape({1, 7})));
  EXPECT_TRUE(batch["position_ids"].equal(longs({0, 1, 2, 0, 1, 0, 1}).reshape({1, 7})));
  EXPECT_TRUE(batch["sequence_ids"].equal(longs({1, 1, 1, 2, 2, 0, 0}).reshape({1, 7})));
  EXPECT_TRUE(batch["labels"].equal(longs({-100, 6, 7, -100, 9, -100, -100}).reshape({1, 7})));
}

TEST(PackCollator, AnExampleGoesIntoTheFirstRowThatHasRoomForIt) {
  const Batch batch = pack({tokens(3, 1), tokens(4, 2), tokens(1, 3), tokens(2, 4), tokens(1, 5)}, 5);
  EXPECT_TRUE(batch["input_ids"].equal(longs({1, 1, 1, 3, 5, 2, 2, 2, 2, 0, 4, 4, 0, 0, 0}).reshape({3, 5})))
      << batch["input_ids"];
  EXPECT_TRUE(batch["sequence_ids"].equal(longs({1, 1, 1, 2, 3, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0}).reshape({3, 5})));
}

TEST(PackCollator, ExamplesThatFillTheirRowsNeedNoPadding) {
  const Batch batch = pack({tokens(4, 1), tokens(2, 2), tokens(2, 3)}, 4);
  EXPECT_TRUE(batch["input_ids"].equal(longs({1, 1, 1, 1, 2, 2, 3, 3}).reshape({2, 4})));
}

TEST(PackCollator, KeepsLabelsButTheFirstOfEachExample) {
  const Batch labelled{{"input_ids", longs({5, 6, 7})}, {"labels", longs({5, -100, 7})}};
  EXPECT_TRUE(pack({labelled, labelled}, 6)["labels"].equal(longs({-100, -100, 7, -100, -100, 7}).reshape({1, 6})));
}

TEST(PackCollator, CountsWhatTheExamplesCountAlone) {
  const std::vector<Batch> examples{tokens(3, 1), tokens(5, 2), tokens(1, 3), tokens(4, 4)};
  int64_t alone = 0;
  for (const Batch& one : examples) alone += causal_lm_items(one["input_ids"].unsqueeze(0));
  EXPECT_EQ(alone, 2 + 4 + 0 + 3);
  EXPECT_EQ(causal_lm_items(pack(examples, 8)["labels"]), alone);
}

TEST(PackCollator, TheLossIsThatOfTheExamplesAlone) {
  const std::vector<Batch> examples{example({1, 2, 0}), example({2, 1})};
  const Batch batch = pack(examples, 8);
  const at::Tensor logits = at::randn({1, 8, 3});
  const at::Tensor first = causal_lm_loss(logits.narrow(1, 0, 3), examples[0]["input_ids"].unsqueeze(0)).sum;
  const at::Tensor second = causal_lm_loss(logits.narrow(1, 3, 2), examples[1]["input_ids"].unsqueeze(0)).sum;
  const at::Tensor packed = causal_lm_loss(logits, batch["labels"]).sum;
  EXPECT_NEAR(packed.item<double>(), first.item<double>() + second.item<double>(), 1e-5);
}

TEST(PackCollator, OtherFillValuesCanBeChosen) {
  const PackCollator collator({.length = 3, .pad_token = 9, .ignore_index = -1});
  const Batch batch = collator(std::vector<Batch>{example({5, 6})});
  EXPECT_TRUE(batch["input_ids"].equal(longs({5, 6, 9}).reshape({1, 3})));
  EXPECT_TRUE(batch["labels"].equal(longs({-1, 6, -1}).reshape({1, 3})));
}

TEST(PackCollator, AnExampleThatDoesNotFitARowIsNamed) {
  EXPECT_EQ(
      error_of([] { pack({tokens(2, 1), tokens(5, 2)}, 4); }),
      "pack: example 1 of the micro-batch has 5 tokens, but a row has only 4: raise the length of rows or cut the "
      "example");
}

TEST(PackCollator, ExamplesThatAreNoSequencesAreRefused) {
  const std::string shape =
      "pack: example 0 of the micro-batch: input_ids and labels must have 1 dimension and at least "
      "1 token";
  EXPECT_EQ(error_of([] { pack({example({})}, 4); }), shape);
  EXPECT_EQ(error_of([] { pack({{{"input_ids", at::ones({1, 2}, at::kLong)}}}, 4); }), shape);
  EXPECT_EQ(error_of([] { pack({{{"input_ids", longs({1, 2})}, {"labels", longs({1})}}}, 4); }),
            "pack: example 0 of the micro-batch has 2 input_ids but 1 labels");
  EXPECT_EQ(error_of([] { pack({}, 4); }), "collate: there is no example: give at least one");
  EXPECT_EQ(error_of([] { PackCollator({.length = 0}); }), "pack: length is 0: it must be 1 or more");
}

TEST(PackedCausalMask, IsBlockDiagonalAndCausal) {
  const at::Tensor mask = packed_causal_mask(longs({1, 1, 2, 0, 0}).reshape({1, 5}));
  const at::Tensor expected = longs({1, 0, 0, 0, 0,    //
                                     1, 1, 0, 0, 0,    //
                                     0, 0, 1, 0, 0,    //
                                     0, 0, 0, 1, 0,    //
                                     0, 0, 0, 1, 1});  // padding sees padding: no row is empty
  EXPECT_EQ(mask.scalar_type(), at::kBool);
  EXPECT_TRUE(mask.equal(expected.reshape({1, 1, 5, 5}).to(at::kBool)));
}

TEST(PackedCausalMask, AttentionOverARowIsThatOverItsExamplesAlone) {
  const Batch batch = pack({tokens(3, 1), tokens(4, 2)}, 8);
  const at::Tensor x = at::randn({1, 2, 8, 4});
  const at::Tensor packed = at::scaled_dot_product_attention(x, x, x, packed_causal_mask(batch["sequence_ids"]));
  for (const auto& [begin, length] : {std::pair{0, 3}, {3, 4}}) {
    const at::Tensor part = x.narrow(2, begin, length);
    const at::Tensor alone = at::scaled_dot_product_attention(part, part, part, {}, 0.0, /*is_causal=*/true);
    EXPECT_TRUE(packed.narrow(2, begin, length).allclose(alone, 1e-5, 1e-6));
  }
}

TEST(PackedCausalMask, NeedsRowsOfIds) {
  EXPECT_EQ(error_of([] { packed_causal_mask(at::zeros({3}, at::kLong)); }),
            "packed_causal_mask: sequence_ids has 1 dimensions: it must have 2, (rows, length)");
}

}  // namespace
}  // namespace lope
