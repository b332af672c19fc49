// Reads files that were made bad, and fails where a reader does anything but return or throw lope::Error in one line,
// reads past the end, or takes more memory than the input can account for.
//
//   build/asan/bin/fuzz_loop [--runs N] [--seed S] [--first N] [--format NAME]
//
// Runs are numbered: --first N --runs 1 repeats the Nth of that seed.

#include <fmt/format.h>
#include <lope/error.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "formats.h"
#include "guarded_input.h"
#include "memory_count.h"
#include "mutator.h"

namespace {

// A number that a file claims must never be asked of the allocator. What the file itself holds becomes a tree of JSON,
// of which "[1,1,1" is the worst: a node of 16 bytes for two letters, thrice while its list grows, and the copies that
// come of it. The constant is for messages and the arguments' own fields.
constexpr std::size_t kMemoryPerByte = 64;
constexpr std::size_t kMemory = 1 << 16;

struct Options {
  std::uint64_t runs = 10'000;
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::string format = {};
};

struct Count {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  double most_memory = 0;  ///< bytes for each byte of an input, beyond the constant
};

std::optional<std::string> fault(const fuzz::Format& format, std::span<const std::byte> input, Count& count) {
  fuzz::start_memory_count();
  std::optional<std::string> result;
  try {
    format.read(input);
    ++count.accepted;
  } catch (const lope::Error& error) {
    ++count.refused;
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
      result = fmt::format("an error of several lines: {}", error.what());
    }
  } catch (const std::exception& error) {
    result = fmt::format("an exception that is no lope::Error: {}", error.what());
  }
  const std::size_t peak = fuzz::peak_memory();
  if (peak > kMemory + kMemoryPerByte * input.size()) return fmt::format("{} bytes of memory", peak);
  if (peak > kMemory) {
    count.most_memory =
        std::max(count.most_memory, static_cast<double>(peak - kMemory) / static_cast<double>(input.size()));
  }
  return result;
}

bool run(const fuzz::Format& format, const Options& options) {
  fuzz::GuardedInput guard(fuzz::kMostInput);
  Count count;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = options.first; i < options.first + options.runs; ++i) {
    const std::string input = fuzz::Mutator(options.seed + (i << 20)).mutate(format);
    const auto reason = fault(format, guard.put(input), count);
    if (!reason) continue;
    fmt::print("{}: run {} of seed {}, {} bytes: {}\n", format.name, i, options.seed, input.size(), *reason);
    return false;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{}: {} inputs, {} accepted, {} refused, most memory {:.1f} per byte, {:.1f} s\n", format.name,
             options.runs, count.accepted, count.refused, count.most_memory, seconds.count());
  return true;
}

int run_all(const Options& options) {
  bool found = false;
  bool good = true;
  for (const fuzz::Format& format : fuzz::formats()) {
    if (!options.format.empty() && format.name != options.format) continue;
    found = true;
    good = run(format, options) && good;
  }
  if (!found) fmt::print(stderr, "fuzz_loop: no format is named {}\n", options.format);
  return found && good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Reads files that were made bad.");
  app.add_option("--runs", options.runs, "inputs of each format");
  app.add_option("--seed", options.seed, "of the changes");
  app.add_option("--first", options.first, "number of the first run");
  app.add_option("--format", options.format, "one format alone");
  CLI11_PARSE(app, argc, argv);
  return run_all(options);
}
