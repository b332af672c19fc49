#pragma once
// Reduce-on-plateau: the one schedule that has state.
//
//   lope::Plateau plateau({.factor = 0.5, .patience = 2}, 3e-4);
//   double rate = plateau.step(eval_loss);  // 3e-4, until eval_loss has not improved for more than 2 evaluations

#include <cstdint>
#include <limits>
#include <string>

#include "lope/argument_map.h"

namespace lope {

/// Names, defaults and meanings of torch.optim.lr_scheduler.ReduceLROnPlateau.
struct PlateauOptions {
  std::string mode = "min";            ///< "min": smaller metrics are better; "max": larger
  double factor = 0.1;                 ///< the rate is multiplied by this
  int64_t patience = 10;               ///< evaluations without improvement that are tolerated
  double threshold = 1e-4;             ///< how much counts as an improvement
  std::string threshold_mode = "rel";  ///< "rel": relative to the best; "abs"
  int64_t cooldown = 0;                ///< evaluations after a reduction that count nothing
  double min_lr = 0.0;                 ///< the rate never falls below this
  double eps = 1e-8;                   ///< a smaller change of the rate is not made

  /// From `lr_scheduler_kwargs`; throws Error naming an unknown or wrong argument.
  static PlateauOptions from(const ArgumentMap& arguments);
};

/// Lowers a rate when a metric has stopped improving.
class Plateau {
 public:
  /// `learning_rate` is the rate to begin with: `min_lr` and `eps` are in its unit. Throws Error naming an option that
  /// is out of range.
  explicit Plateau(PlateauOptions options = {}, double learning_rate = 1.0);

  /// Takes the metric of an evaluation; returns the rate from now on. A NaN metric is never an improvement.
  double step(double metric);
  double learning_rate() const { return learning_rate_; }

  /// What a checkpoint keeps.
  struct State {
    double learning_rate = 0;
    double best = 0;
    int64_t bad_evaluations = 0;
    int64_t cooldown_left = 0;
  };
  State state() const;
  void load_state(const State& state);

 private:
  bool improves(double metric) const;
  void reduce();

  PlateauOptions options_;
  double learning_rate_;
  double best_;
  int64_t bad_evaluations_ = 0;
  int64_t cooldown_left_ = 0;
};

}  // namespace lope
