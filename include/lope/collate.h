#pragma once
// Joins examples to a micro-batch.
//
//   loader_options.collator = lope::PadCollator{{.pad_values = {{"input_ids", 0}, {"labels", -100}}}};

#include <functional>
#include <map>
#include <span>
#include <string>

#include "lope/batch.h"

namespace lope {

/// From examples (tensors without a batch dimension) to a micro-batch (rows in dimension 0).
using Collator = std::function<Batch(std::span<const Batch>)>;

/// Stacks tensors of equal shape along a new dimension 0. Throws Error naming the tensor and both shapes when they
/// differ, and when an example lacks a name that the first one has.
Batch stack_examples(std::span<const Batch> examples);

/// Where the filling goes: behind an example, or before it.
enum class PaddingSide { kRight, kLeft };

/// How PadCollator fills up shorter examples.
struct PadOptions {
  /// Fill value by tensor name. Tensors that are not named here must have equal shapes.
  std::map<std::string, double> pad_values = {{"input_ids", 0.0}, {"labels", -100.0}, {"attention_mask", 0.0}};
  /// Lengths are rounded up to a multiple of this (8 or 64 suit tensor cores).
  int64_t pad_to_multiple_of = 1;
  PaddingSide side = PaddingSide::kRight;
  /// Adds an int64 tensor "attention_mask" (rows, length), 1 on what was in the first padded tensor of an example and 0
  /// on the filling. Models need it when the filling is on the left, or attention isn't causal.
  bool attention_mask = false;
};

/// Pads the first dimension of every named tensor to the longest of the micro-batch, then stacks.
class PadCollator {
 public:
  /// Throws Error when `pad_to_multiple_of` is below 1.
  explicit PadCollator(PadOptions options = {});
  Batch operator()(std::span<const Batch> examples) const;

 private:
  PadOptions options_;
};

}  // namespace lope
