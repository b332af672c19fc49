#pragma once
// What a loader's threads do: micro-batches of one epoch, each by its number.

#include <ATen/core/Generator.h>
#include <c10/core/Event.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "lope/batch.h"
#include "lope/error.h"
#include "lope/loader.h"

namespace lope {

/// What one thread that loads needs, and where it is.
struct Workplace {
  /// The example it is at, or the first of a micro-batch that is made in one go.
  std::atomic<int64_t> example{0};
  /// Asks the task to give up between two examples.
  std::atomic<bool> cancelled{false};
  /// Reseeded for each augmented example.
  at::Generator generator;
};

struct LoadedBatch {
  Batch batch;
  /// Examples that it was made of.
  int64_t examples = 0;
  /// Recorded when its copy to the device was asked for.
  std::unique_ptr<c10::Event> copied = nullptr;
};

/// One epoch from one position on.
class LoaderTask {
 public:
  virtual ~LoaderTask() = default;
  /// Micro-batch `number`, counted from where the task begins; nullopt behind the last one, or when cancelled. After an
  /// exception it can be asked for again.
  virtual std::optional<LoadedBatch> make(int64_t number, Workplace& place) = 0;
};

/// What a loader loads from.
class LoaderSource {
 public:
  virtual ~LoaderSource() = default;
  /// Throws Error when there is no such position.
  virtual std::shared_ptr<LoaderTask> begin(LoaderPosition from) = 0;
  virtual std::optional<int64_t> examples_per_epoch() const = 0;
  /// Whether one thread after the other has to make the micro-batches, and no task may run while another begins.
  virtual bool is_sequential() const = 0;
};

/// Does work of the user's; whatever it throws becomes an Error that begins with what `describe` says.
template <typename Work, typename Describe>
auto naming_errors(const Work& work, const Describe& describe) {
  try {
    return work();
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: {}", describe(), first_line(error.what())));
  } catch (...) {
    throw Error(fmt::format("{}: something was thrown that is not a std::exception", describe()));
  }
}

}  // namespace lope
