#pragma once
// The flags of a program: its own, and one for every field of TrainingArguments.
//
//   std::string train_file;
//   TrainingArguments arguments{.output_dir = "run"};
//   CommandLine command_line("causal_lm", "Trains a language model.");
//   command_line.add("train_file", train_file, "Text to train on.", {.required = true}).add(arguments);
//   return command_line.run(argc, argv, [&] { train(train_file, arguments); });

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lope {

struct TrainingArguments;

/// What an option asks for beyond its type.
struct OptionRules {
  bool required = false;                          ///< must be given on the command line
  std::optional<double> at_least = std::nullopt;  ///< smallest number
  std::vector<std::string> one_of = {};           ///< the only texts allowed
};

/// Flags are written `--name value` or `--name=value`, with `_` or `-` between words. A true or false flag may stand
/// alone (`--bf16`); one whose default is true can be turned off by `--no_name`. A flag given twice takes the last.
class CommandLine {
 public:
  CommandLine(std::string program, std::string description);
  ~CommandLine();
  CommandLine(CommandLine&&) noexcept;
  CommandLine& operator=(CommandLine&&) noexcept;

  /// Adds `--name`. The present value is the default; `value` must outlive the parsing.
  CommandLine& add(std::string_view name, std::string& value, std::string_view help, OptionRules rules = {});
  CommandLine& add(std::string_view name, std::int64_t& value, std::string_view help, OptionRules rules = {});
  CommandLine& add(std::string_view name, double& value, std::string_view help, OptionRules rules = {});
  CommandLine& add(std::string_view name, bool& value, std::string_view help, OptionRules rules = {});

  /// Adds a flag for every field, and `--args_file FILE`, a JSON file that is read over the present values before the
  /// flags are. `arguments` must outlive the parsing. They are not validated: a flag's value is checked alone.
  CommandLine& add(TrainingArguments& arguments);

  /// Reads the flags, given without the program's name. After `--help`, only `help_requested` changes.
  /// @throws Error in one line for an unknown flag, a missing or wrong value, or a wrong file
  void parse(const std::vector<std::string>& flags);

  bool help_requested() const;

  /// Whether `--name` was on the command line.
  bool given(std::string_view name) const;

  /// All flags by group, with their defaults.
  std::string help() const;

  /// Parses, then runs `body` under `run_main`. Prints the help text if that was asked for.
  /// @return the exit code of the program: 0, 1 when `body` failed, 2 when the flags are wrong
  int run(int argc, const char* const* argv, const std::function<void()>& body);

 private:
  struct Flags;
  std::unique_ptr<Flags> flags_;
};

/// Runs `body` and returns 0; when it throws, prints the first line of the reason as "error: …" and returns 1.
int run_main(const std::function<void()>& body);

}  // namespace lope
