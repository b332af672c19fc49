#pragma once
// Examples of any length, one JSON object a line: {"input_ids": [5, 2, 7], "labels": [-100, 2, 7]}.
//
//   lope::JsonLinesDataset data("train.jsonl", {.vocab_size = 50257, .n_positions = 1024});
//   TrainerOptions options{.train_dataset = &data, .collator = PadCollator()};

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lope/dataset.h"
#include "lope/mapped_file.h"

namespace lope {

struct JsonLinesOptions {
  /// Tokens are below it; 0 for any token that is not negative.
  int64_t vocab_size = 0;
  /// Most tokens in an example; 0 for any number.
  int64_t n_positions = 0;
  /// Parses every line when the file is opened, so that a bad one is found before the training. Without it only the
  /// beginnings of the lines are looked for, and `length` has to parse its line.
  bool check_when_opened = true;
};

/// Example i is the i-th line that is not blank: "input_ids" and "labels" (length), int64. Without labels in the line
/// they are the same tensor: every token is to be predicted; a label of -100 is not. Other fields are not read.
///
/// The file is mapped, and a line is parsed when its example is asked for: only the places of the lines are kept in
/// memory (16 bytes each).
class JsonLinesDataset : public Dataset {
 public:
  /// Throws Error naming the file, and the line of a bad example.
  explicit JsonLinesDataset(std::string path, JsonLinesOptions options = {});

  int64_t size() const override { return static_cast<int64_t>(begins_.size()); }
  Batch get(int64_t index) const override;
  /// Tokens of the example.
  std::optional<int64_t> length(int64_t index) const override;

 private:
  void find_lines();
  std::string_view text() const;
  std::string_view line(int64_t index) const;

  std::string path_;
  JsonLinesOptions options_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<int64_t> begins_;
  /// Tokens by example; empty without `check_when_opened`.
  std::vector<int64_t> lengths_;
};

}  // namespace lope
