#pragma once
// The words and numbers in which a run is shown.
//
//   log_line(context, entry);          // "step 10/1000  epoch 0.03  loss 2.3451"
//   summary(context, throughput);      // "trained 1000 updates in 01:42: ..."

#include <string>
#include <string_view>

#include "lope/callback.h"
#include "lope/throughput.h"

namespace lope {

/// A value in about five digits; learning rates as 3.00e-04.
std::string format_value(std::string_view name, double value);

/// "12.3k tokens/s", or samples where examples have no tokens.
std::string format_speed(const Rates& rates, const Progress& progress);

/// "00:42<00:58": since the start, and until the end where that is known.
std::string format_times(const Throughput& throughput, int64_t total_steps);

/// The entry without timings, which evaluations have.
std::string log_line(const TrainingContext& context, const LogEntry& entry);

/// What the run did, in one line.
std::string summary(const TrainingContext& context, const Throughput& throughput);

}  // namespace lope
