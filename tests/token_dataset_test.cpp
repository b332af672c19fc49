#include "lope/token_dataset.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using testing::error_of;
using testing::TemporaryFolder;
using testing::write_text;

at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

template <typename Token>
std::string bytes_of(const std::vector<Token>& tokens) {
  return {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token)};
}

/// A file of these tokens, and the data set over it.
class TokenFile {
 public:
  TokenFile(const std::string& bytes, TokenOptions options) : options_(options) { write_text(folder_ / "t", bytes); }
  TokenDataset open() const { return TokenDataset(path(), options_); }
  std::string path() const { return folder_ / "t"; }
  std::string error() const {
    return error_of([this] { open(); });
  }

 private:
  TemporaryFolder folder_;
  TokenOptions options_;
};

TEST(TokenDataset, ExamplesAreBlocksWhoseLabelsAreTheirTokens) {
  const TokenFile file(bytes_of<uint16_t>({1, 2, 65535, 4}), {.block_size = 2});
  const TokenDataset data = file.open();
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.tokens(), 4);
  EXPECT_TRUE(data.get(1)["input_ids"].equal(longs({65535, 4})));
  EXPECT_TRUE(data.get(1)["labels"].equal(longs({65535, 4})));
}

TEST(TokenDataset, ReadsTokensOfOneTwoAndFourBytes) {
  const TokenFile one("\x01\xff", {.type = TokenType::kUInt8, .block_size = 2});
  EXPECT_TRUE(one.open().get(0)["input_ids"].equal(longs({1, 255})));
  const TokenFile four(bytes_of<uint32_t>({7, 4294967295}), {.type = TokenType::kUInt32, .block_size = 2});
  EXPECT_TRUE(four.open().get(0)["input_ids"].equal(longs({7, 4294967295})));
}

TEST(TokenDataset, TheLastBlockMayBeShorterButASingleTokenIsLeftOut) {
  for (const auto& [tokens, blocks, last] : {std::tuple{4, 2, 2}, {5, 2, 2}, {6, 2, 3}, {7, 2, 3}, {8, 3, 2}}) {
    const int64_t block_size = tokens < 6 ? 2 : 3;
    const TokenFile file(std::string(static_cast<size_t>(tokens), 'a'),
                         {.type = TokenType::kUInt8, .block_size = block_size});
    const TokenDataset data = file.open();
    EXPECT_EQ(data.size(), blocks) << tokens;
    EXPECT_EQ(data.length(blocks - 1), last) << tokens;
    EXPECT_EQ(data.get(blocks - 1)["input_ids"].numel(), last) << tokens;
  }
}

TEST(TokenDataset, ABatchHasTheRowsThatWereAskedForInTheirOrder) {
  const TokenFile file("abcdef", {.type = TokenType::kUInt8, .block_size = 2});
  const Batch batch = *file.open().get_batch(std::vector<int64_t>{2, 0, 2});
  EXPECT_TRUE(batch["input_ids"].equal(longs({'e', 'f', 'a', 'b', 'e', 'f'}).reshape({3, 2})));
  EXPECT_TRUE(batch["labels"].is_same(batch["input_ids"]));
}

TEST(TokenDataset, ABatchPadsTheLastBlockWithLabelsThatDoNotCount) {
  const TokenFile file("abcde", {.type = TokenType::kUInt8, .block_size = 3});
  const Batch batch = *file.open().get_batch(std::vector<int64_t>{1, 0});
  EXPECT_TRUE(batch["input_ids"].equal(longs({'d', 'e', 0, 'a', 'b', 'c'}).reshape({2, 3})));
  EXPECT_TRUE(batch["labels"].equal(longs({'d', 'e', -100, 'a', 'b', 'c'}).reshape({2, 3})));
}

TEST(TokenDataset, ATokenBeyondTheVocabularyIsNamedWithItsPosition) {
  const TokenFile file(bytes_of<uint16_t>({1, 2, 256, 300}), {.vocab_size = 256});
  EXPECT_EQ(file.error(), file.path() + ": token 256 at position 2 is beyond the model's vocab_size of 256");
  const TokenFile good(bytes_of<uint16_t>({1, 2, 255}), {.vocab_size = 256});
  EXPECT_EQ(good.error(), "no error");
}

TEST(TokenDataset, ATokenBeyondTheVocabularyIsFoundFarIntoAFile) {
  std::string text(3'000'000, 'a');
  text[2'500'000] = 'b';
  const TokenFile file(text, {.type = TokenType::kUInt8, .vocab_size = 'b'});
  EXPECT_EQ(file.error(), file.path() + ": token 98 at position 2500000 is beyond the model's vocab_size of 98");
}

TEST(TokenDataset, FilesThatHoldNoExampleAreRefused) {
  const TokenFile half("abc", {});
  EXPECT_EQ(half.error(), half.path() + " has 3 bytes: tokens of 2 bytes do not fill it");
  const TokenFile empty("", {});
  EXPECT_EQ(empty.error(), empty.path() + " has 0 tokens: at least 2 are needed");
  const TokenFile one("ab", {});
  EXPECT_EQ(one.error(), one.path() + " has 1 tokens: at least 2 are needed");
  EXPECT_EQ(error_of([] { TokenDataset("/no/such/file"); }),
            "cannot read /no/such/file: No such file or directory; give the path of a readable file");
}

TEST(TokenDataset, OptionsOutOfRangeAreRefused) {
  EXPECT_EQ(error_of([] { TokenDataset("t", {.block_size = 0}); }), "block_size is 0: it must be 1 or more");
  EXPECT_EQ(error_of([] { TokenDataset("t", {.vocab_size = -1}); }),
            "vocab_size is -1: it must be 0 (nothing is checked) or more");
}

}  // namespace
}  // namespace lope
