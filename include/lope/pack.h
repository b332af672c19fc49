#pragma once
// Several short examples in one row, so that little is computed on padding.
//
//   options.collator = lope::PackCollator({.length = 1024});
//   at::Tensor mask = lope::packed_causal_mask(batch["sequence_ids"]);        // (rows, 1, length, length)
//   at::scaled_dot_product_attention(q, k, v, mask);                          // sees nothing of its row's neighbours

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "lope/batch.h"

namespace lope {

struct PackOptions {
  /// Tokens of a row.
  int64_t length = 1024;
  /// What the free end of a row is filled with.
  int64_t pad_token = 0;
  /// The label of what is not to be predicted.
  int64_t ignore_index = -100;
};

/// Joins examples with "input_ids" and, if there are any, "labels" (both 1-dimensional; without labels the tokens are
/// the labels) to rows of one length. Examples are put, in the order given, into the first row that has room for them,
/// and a new row is begun where none has: nothing is lost or cut, and a micro-batch of n examples has at most n rows.
///
/// The batch has, each (rows, length) and int64:
///   "input_ids"     the examples, one behind the other, then `pad_token`
///   "labels"        theirs, but `ignore_index` for each example's first token, so that no example predicts the next
///                   one, and for padding: causal_lm_loss counts what it would count for the examples alone
///   "position_ids"  0, 1, 2 … anew for each example, and for the padding
///   "sequence_ids"  1, 2, 3 … by example in the row, 0 for padding
class PackCollator {
 public:
  /// Throws Error when `length` is below 1.
  explicit PackCollator(PackOptions options = {});
  /// Throws Error naming the example that is longer than a row, empty, or has other labels than tokens.
  Batch operator()(std::span<const Batch> examples) const;

 private:
  PackOptions options_;
};

/// What may be attended to in packed rows: true where query (dimension 2) and key (dimension 3) are of one example and
/// the key isn't later. `sequence_ids` (rows, length) gives bool (rows, 1, length, length), for all heads. Padding
/// attends to padding, so that no row of the mask is empty.
at::Tensor packed_causal_mask(const at::Tensor& sequence_ids);

}  // namespace lope
