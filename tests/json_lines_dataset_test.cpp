#include "lope/json_lines_dataset.h"

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

constexpr const char* kThree =
    "{\"input_ids\": [5, 2, 7], \"labels\": [-100, 2, 7]}\r\n"
    "\n"
    "  {\"text\": \"x\", \"input_ids\": [1]}\n"
    "{\"input_ids\": [3, 4]}";

at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

class Lines {
 public:
  explicit Lines(const std::string& text) { write_text(path(), text); }
  std::string path() const { return folder_ / "t.jsonl"; }
  JsonLinesDataset open(JsonLinesOptions options = {}) const { return JsonLinesDataset(path(), options); }
  /// What opening says, without the file's name.
  std::string error(JsonLinesOptions options = {}) const {
    const std::string message = error_of([&] { open(options); });
    return message.starts_with(path()) ? message.substr(path().size() + 1) : message;
  }

 private:
  TemporaryFolder folder_;
};

TEST(JsonLinesDataset, ExamplesAreTheLinesThatAreNotBlank) {
  const Lines lines(kThree);
  for (const bool check : {true, false}) {
    const JsonLinesDataset data = lines.open({.check_when_opened = check});
    EXPECT_EQ(data.size(), 3);
    EXPECT_TRUE(data.get(0)["input_ids"].equal(longs({5, 2, 7})));
    EXPECT_TRUE(data.get(0)["labels"].equal(longs({-100, 2, 7})));
    EXPECT_TRUE(data.get(1)["input_ids"].equal(longs({1})));
    EXPECT_TRUE(data.get(2)["labels"].equal(longs({3, 4})));
  }
}

TEST(JsonLinesDataset, LengthsAreKnownWithAndWithoutChecking) {
  const Lines lines(kThree);
  for (const bool check : {true, false}) {
    const JsonLinesDataset data = lines.open({.check_when_opened = check});
    EXPECT_EQ(data.length(0), 3);
    EXPECT_EQ(data.length(1), 1);
    EXPECT_EQ(data.length(2), 2);
  }
}

TEST(JsonLinesDataset, ABadLineIsNamedByItsNumberInTheFile) {
  const std::string good = "\n{\"input_ids\": [1, 2]}\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"input_ids": [1, 2})", "it must be a JSON object with input_ids"},
      {R"([1, 2])", "it must be a JSON object with input_ids"},
      {R"({"input": [1]})", "it must be a JSON object with input_ids"},
      {R"({"input_ids": 1})", "input_ids must be a list of tokens"},
      {R"({"input_ids": [1], "labels": "1"})", "labels must be a list of tokens"},
      {R"({"input_ids": [1.5]})", "input_ids holds 1.5: it must be a token"},
      {R"({"input_ids": []})", "input_ids is empty"},
      {R"({"input_ids": [1, 2], "labels": [1]})", "it has 2 input_ids but 1 labels"},
      {R"({"input_ids": [1, 9]})", "token 9 in input_ids is beyond the model's vocab_size of 9"},
      {R"({"input_ids": [-100]})", "token -100 in input_ids is beyond the model's vocab_size of 9"},
      {R"({"input_ids": [1, 2, 3, 4]})", "it has 4 tokens, but the model has only n_positions 3"}};
  for (const auto& [line, reason] : cases) {
    EXPECT_EQ(Lines(good + line + "\n").error({.vocab_size = 9, .n_positions = 3}), "line 3: " + reason);
  }
}

TEST(JsonLinesDataset, WithoutAVocabularyOnlyNegativeTokensAreRefused) {
  EXPECT_EQ(Lines(R"({"input_ids": [1, -2]})").error(), "line 1: token -2 in input_ids is below 0");
  EXPECT_EQ(Lines(R"({"input_ids": [1, 4000000000]})").error(), "no error");
}

TEST(JsonLinesDataset, WithoutCheckingABadLineIsFoundWhenItIsRead) {
  const Lines lines("{\"input_ids\": [1]}\n{}\n{\"input_ids\": [2]}\n");
  const JsonLinesDataset data = lines.open({.check_when_opened = false});
  EXPECT_EQ(error_of([&] { data.get(1); }), lines.path() + " line 2: it must be a JSON object with input_ids");
  EXPECT_TRUE(data.get(2)["input_ids"].equal(longs({2})));
}

TEST(JsonLinesDataset, FilesWithoutExamplesAreRefused) {
  EXPECT_EQ(Lines("").error(), "has no examples: give it a line for each");
  EXPECT_EQ(Lines("\n \t\r\n").error(), "has no examples: give it a line for each");
  EXPECT_EQ(error_of([] { JsonLinesDataset("/no/such/file"); }),
            "cannot read /no/such/file: No such file or directory; give the path of a readable file");
}

}  // namespace
}  // namespace lope
