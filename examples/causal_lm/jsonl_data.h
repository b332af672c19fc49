#pragma once
// Examples of any length, one JSON object a line: {"input_ids": [5, 2, 7], "labels": [-100, 2, 7]}. Without labels
// every token is to be predicted. Other fields are not read.
//
//   JsonlData data("train.jsonl", {.vocab_size = 96, .n_positions = 48});

#include <string>
#include <vector>

#include "data.h"

class JsonlData : public lope::Dataset {
 public:
  JsonlData(const std::string& path, const DataLimits& limits);

  int64_t size() const override { return static_cast<int64_t>(examples_.size()); }
  lope::Batch get(int64_t index) const override { return examples_[static_cast<size_t>(index)]; }

 private:
  std::vector<lope::Batch> examples_;
};
