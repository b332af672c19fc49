#include "lope/pack.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lope/error.h"

namespace lope {
namespace {

struct Example {
  at::Tensor ids;
  at::Tensor labels;
};

/// Where an example goes.
struct Place {
  int64_t row;
  int64_t begin;
  int64_t sequence;  ///< from 1 in each row
};

Example take(const Batch& batch, size_t number, const PackOptions& options) {
  const at::Tensor& ids = batch["input_ids"];
  const at::Tensor& labels = batch.contains("labels") ? batch["labels"] : ids;
  if (ids.dim() != 1 || labels.dim() != 1 || ids.numel() == 0) {
    throw Error(
        fmt::format("pack: example {} of the micro-batch: input_ids and labels must have 1 dimension and at "
                    "least 1 token",
                    number));
  }
  if (ids.numel() != labels.numel()) {
    throw Error(fmt::format("pack: example {} of the micro-batch has {} input_ids but {} labels", number, ids.numel(),
                            labels.numel()));
  }
  if (ids.numel() > options.length) {
    throw Error(
        fmt::format("pack: example {} of the micro-batch has {} tokens, but a row has only {}: raise the length "
                    "of rows or cut the example",
                    number, ids.numel(), options.length));
  }
  return {ids, labels};
}

/// First fit in the order given. Returns a place for each example, and the number of rows.
std::pair<std::vector<Place>, int64_t> find_places(const std::vector<Example>& examples, int64_t length) {
  struct Row {
    int64_t used = 0;
    int64_t sequences = 0;
  };
  std::vector<Row> rows;
  std::vector<Place> places;
  for (const Example& example : examples) {
    const int64_t tokens = example.ids.numel();
    auto row = std::ranges::find_if(rows, [&](const Row& candidate) { return candidate.used + tokens <= length; });
    if (row == rows.end()) row = rows.insert(row, Row{});
    places.push_back({row - rows.begin(), row->used, ++row->sequences});
    row->used += tokens;
  }
  return {places, static_cast<int64_t>(rows.size())};
}

at::Tensor full_rows(int64_t rows, int64_t length, int64_t value) { return at::full({rows, length}, value, at::kLong); }

/// Positions of the padding: from 0 behind the last example of each row.
void number_padding(const at::Tensor& positions, const std::vector<Example>& examples,
                    const std::vector<Place>& places) {
  std::vector<int64_t> used(static_cast<size_t>(positions.size(0)));
  for (size_t i = 0; i < examples.size(); ++i) {
    used[static_cast<size_t>(places[i].row)] = places[i].begin + examples[i].ids.numel();
  }
  for (int64_t row = 0; row < positions.size(0); ++row) {
    const at::Tensor rest = positions[row].slice(0, used[static_cast<size_t>(row)]);
    rest.copy_(at::arange(rest.numel(), at::kLong));
  }
}

}  // namespace

PackCollator::PackCollator(PackOptions options) : options_(options) {
  if (options_.length < 1) throw Error(fmt::format("pack: length is {}: it must be 1 or more", options_.length));
}

Batch PackCollator::operator()(std::span<const Batch> batches) const {
  if (batches.empty()) throw Error("collate: there is no example: give at least one");
  std::vector<Example> examples;
  examples.reserve(batches.size());
  for (size_t i = 0; i < batches.size(); ++i) examples.push_back(take(batches[i], i, options_));
  const auto [places, rows] = find_places(examples, options_.length);

  const at::Tensor ids = full_rows(rows, options_.length, options_.pad_token);
  const at::Tensor labels = full_rows(rows, options_.length, options_.ignore_index);
  const at::Tensor positions = full_rows(rows, options_.length, 0);
  const at::Tensor sequences = full_rows(rows, options_.length, 0);
  for (size_t i = 0; i < examples.size(); ++i) {
    const int64_t tokens = examples[i].ids.numel();
    const auto part = [&](const at::Tensor& all) { return all[places[i].row].narrow(0, places[i].begin, tokens); };
    part(ids).copy_(examples[i].ids);
    part(labels).slice(0, 1).copy_(examples[i].labels.slice(0, 1));
    part(positions).copy_(at::arange(tokens, at::kLong));
    part(sequences).fill_(places[i].sequence);
  }
  number_padding(positions, examples, places);
  return {{"input_ids", ids}, {"labels", labels}, {"position_ids", positions}, {"sequence_ids", sequences}};
}

at::Tensor packed_causal_mask(const at::Tensor& sequence_ids) {
  if (sequence_ids.dim() != 2) {
    throw Error(fmt::format("packed_causal_mask: sequence_ids has {} dimensions: it must have 2, (rows, length)",
                            sequence_ids.dim()));
  }
  return (sequence_ids.unsqueeze(2) == sequence_ids.unsqueeze(1)).tril().unsqueeze(1);
}

}  // namespace lope
