#pragma once
// Where a run is, between two windows: the numbers that neither the model, the optimizer nor trainer_state.json hold.
//
//   writer.write_text("progress.json", position.to_json());
//   RunPosition position = RunPosition::from_json(reader.text("progress.json"));

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lope/callback.h"
#include "lope/loader.h"
#include "lope/plateau.h"
#include "lope/progress.h"
#include "loss_meter.h"

namespace lope {

struct RunPosition {
  Progress progress = {};
  LoaderPosition loader = {};
  /// Of the training data, to see whether it is still the same; nullopt for a stream.
  std::optional<int64_t> examples_per_epoch = std::nullopt;
  /// Whether the end of the present epoch has been dealt with (its events, log and evaluation).
  bool epoch_ended = false;
  /// Update of the last evaluation; -1 for none.
  int64_t evaluated_at = -1;
  /// Skipped updates that a log entry has told of.
  int64_t logged_skips = 0;
  /// Losses since the last log that the meter has, beside those that the stepper still holds.
  LossMeter::Mean recent = {};
  std::optional<Plateau::State> plateau = std::nullopt;
  /// `optim` of the state, or "own" for an optimizer that the user gave.
  std::string optimizer = {};
  /// The best evaluation that a checkpoint was saved of.
  std::optional<BestMetric> best_saved = std::nullopt;

  std::string to_json() const;
  /// @throws Error naming a field that is missing or wrong
  static RunPosition from_json(std::string_view text);
};

}  // namespace lope
