#include <gtest/gtest.h>
#include <lope/command_line.h>
#include <lope/error.h>
#include <lope/training_arguments.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace lope {
namespace {

using Words = std::vector<std::string>;

// A program with an option of each kind.
class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    command_line.add("train_file", train_file, "Text to train on.")
        .add("model", model, "Kind of model.", {.one_of = {"gpt2", "llama"}})
        .add("n_layer", n_layer, "Number of blocks.", {.at_least = 1})
        .add("temperature", temperature, "Softness of sampling.", {.at_least = 0})
        .add("sample", sample, "Print a sample.")
        .add("quiet", quiet, "Print less.")
        .add(arguments);
  }

  std::string parse_error(const Words& flags) {
    return testing::error_of([&] { command_line.parse(flags); });
  }

  std::string train_file;
  std::string model = "gpt2";
  std::int64_t n_layer = 6;
  double temperature = 0.8;
  bool sample = true;
  bool quiet = false;
  TrainingArguments arguments{.output_dir = "run"};
  CommandLine command_line{"program", "Trains."};
};

TEST_F(CommandLineTest, NothingGivenChangesNothing) {
  command_line.parse({});
  EXPECT_EQ(arguments, TrainingArguments{.output_dir = "run"});
  EXPECT_EQ(n_layer, 6);
  EXPECT_TRUE(sample);
}

TEST_F(CommandLineTest, SetsOptionsOfEveryKind) {
  command_line.parse({"--train_file", "a.txt", "--model=llama", "--n_layer", "2", "--temperature", "1e-1", "--quiet"});
  EXPECT_EQ(train_file, "a.txt");
  EXPECT_EQ(model, "llama");
  EXPECT_EQ(n_layer, 2);
  EXPECT_EQ(temperature, 0.1);
  EXPECT_TRUE(quiet);
  EXPECT_TRUE(command_line.given("quiet"));
  EXPECT_FALSE(command_line.given("sample"));
}

TEST_F(CommandLineTest, SetsFieldsOfEveryKind) {
  command_line.parse({"--per_device_train_batch_size", "4", "--learning_rate", "3e-4", "--max_steps", "-1", "--optim",
                      "sgd", "--tf32", "false", "--eval_steps", "0.1", "--save_total_limit", "2",
                      "--lr_scheduler_kwargs", "num_cycles=2", "--data_seed=7"});
  TrainingArguments expected{.output_dir = "run", .data_seed = 7, .per_device_train_batch_size = 4};
  expected.learning_rate = 3e-4;
  expected.optim = "sgd";
  expected.tf32 = false;
  expected.eval_steps = 0.1;
  expected.save_total_limit = 2;
  expected.lr_scheduler_kwargs = {{"num_cycles", 2.0}};
  EXPECT_EQ(arguments, expected);
}

TEST_F(CommandLineTest, EveryFieldHasAFlag) {
  for (const ArgumentDescription& argument : TrainingArguments::describe()) {
    EXPECT_NE(command_line.help().find("--" + argument.name + " "), std::string::npos) << argument.name;
  }
}

TEST_F(CommandLineTest, TrueOrFalseFlagsMayStandAlone) {
  command_line.parse({"--bf16", "--fp16", "false", "--dataloader_pin_memory", "0", "--logging_first_step", "yes"});
  EXPECT_TRUE(arguments.bf16);
  EXPECT_FALSE(arguments.fp16);
  EXPECT_FALSE(arguments.dataloader_pin_memory);
  EXPECT_TRUE(arguments.logging_first_step);
}

TEST_F(CommandLineTest, FlagsThatAreOnCanBeTurnedOff) {
  command_line.parse({"--no_dataloader_pin_memory", "--no_sample"});
  EXPECT_FALSE(arguments.dataloader_pin_memory);
  EXPECT_FALSE(sample);
  EXPECT_TRUE(command_line.given("sample"));
  EXPECT_EQ(parse_error({"--no_bf16"}), "--no_bf16: unknown flag");
}

TEST_F(CommandLineTest, WordsMayBeJoinedByDashes) {
  command_line.parse({"--learning-rate", "1", "--no-sample", "--train-file", "x-y_z"});
  EXPECT_EQ(arguments.learning_rate, 1);
  EXPECT_FALSE(sample);
  EXPECT_EQ(train_file, "x-y_z");
}

TEST_F(CommandLineTest, TheLastOfSeveralValuesCounts) {
  command_line.parse({"--seed", "1", "--seed", "2"});
  EXPECT_EQ(arguments.seed, 2);
}

TEST_F(CommandLineTest, AnOptionalFieldCanBeUnset) {
  arguments.save_total_limit = 3;
  command_line.parse({"--save_total_limit", "none"});
  EXPECT_EQ(arguments.save_total_limit, std::nullopt);
}

TEST_F(CommandLineTest, FlagsWinOverTheFile) {
  const testing::TemporaryFolder folder;
  testing::write_text(folder / "args.json", R"({"seed": 5, "learning_rate": 1.0})");
  command_line.parse({"--seed", "6", "--args_file", folder / "args.json"});
  EXPECT_EQ(arguments.seed, 6);
  EXPECT_EQ(arguments.learning_rate, 1.0);
  EXPECT_EQ(arguments.output_dir, "run");
}

TEST_F(CommandLineTest, AWrongFileIsNamed) {
  EXPECT_EQ(parse_error({"--args_file", "nowhere.json"}),
            "nowhere.json: cannot be read; check that it is there and is a file");
}

TEST_F(CommandLineTest, UnknownFlagsNameTheNearest) {
  EXPECT_EQ(parse_error({"--learning_rat", "3"}), "--learning_rat: unknown flag; did you mean --learning_rate?");
  EXPECT_EQ(parse_error({"--n-layers=3"}), "--n-layers: unknown flag; did you mean --n_layer?");
  EXPECT_EQ(parse_error({"--no_dataloader_pin_memori"}),
            "--no_dataloader_pin_memori: unknown flag; did you mean --no_dataloader_pin_memory?");
  EXPECT_EQ(parse_error({"-x"}), "-x: unknown flag");
  EXPECT_EQ(parse_error({"--warmup_ratio", "0.1"}),
            "--warmup_ratio: unknown flag; use warmup_steps with a value below 1");
  EXPECT_EQ(parse_error({"--torch_compile"}),
            "--torch_compile: this argument of the Python Trainer is not supported; remove it");
  EXPECT_EQ(parse_error({"a.txt"}), "a.txt: not the value of a flag; write --name value, --help lists them");
}

TEST_F(CommandLineTest, WrongValuesNameTheFlagWhatWasGivenAndWhatIsAllowed) {
  EXPECT_EQ(parse_error({"--learning_rate", "fast"}),
            "--learning_rate is fast: it must be a number of 0 or more (default 5e-05)");
  EXPECT_EQ(parse_error({"--max_grad_norm", "-1"}),
            "--max_grad_norm is -1: it must be a number of 0 or more (default 1)");
  EXPECT_EQ(parse_error({"--seed", "1.5"}), "--seed is 1.5: it must be a whole number of 0 or more (default 42)");
  EXPECT_EQ(parse_error({"--n_layer", "0"}), "--n_layer is 0: it must be a whole number of 1 or more (default 6)");
  EXPECT_EQ(parse_error({"--model", "gpt3"}),
            "--model is gpt3: it must be one of gpt2, llama (default gpt2); did you mean gpt2?");
  EXPECT_EQ(parse_error({"--bf16", "maybe"}), "--bf16 is maybe: it must be true or false (default false)");
  EXPECT_TRUE(parse_error({"--seed"}).starts_with("--seed: ")) << parse_error({"--seed"});
}

TEST(CommandLine, ARequiredOptionMustBeGiven) {
  std::string file;
  CommandLine command_line("program", "Trains.");
  command_line.add("file", file, "Text.", {.required = true});
  EXPECT_EQ(testing::error_of([&] { command_line.parse({}); }), "--file is missing: it must be given");
  command_line.parse({"--help"});
  EXPECT_TRUE(command_line.help_requested());
}

TEST_F(CommandLineTest, HelpShowsGroupsAndDefaults) {
  const std::string help = command_line.help();
  for (const char* part : {"Usage: program", "Program:", "Optimizer:", "Number of blocks. [6]",
                           "Highest learning rate, before the schedule. [5e-05]", "[\"run\"]", "--args_file FILE",
                           "It is one of no, steps, epoch. [\"no\"]"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(help.find("--learning-rate"), std::string::npos);
}

struct Outcome {
  int code;
  std::string printed;
  std::string errors;
};

template <typename Function>
Outcome outcome_of(Function&& function) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = function();
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST_F(CommandLineTest, RunPrintsOneLineAndReturnsTwoForWrongFlags) {
  const char* const words[] = {"program", "--sed", "1"};
  bool ran = false;
  const Outcome outcome = outcome_of([&] { return command_line.run(3, words, [&] { ran = true; }); });
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.errors, "error: --sed: unknown flag; did you mean --seed?\n");
  EXPECT_FALSE(ran);
}

TEST_F(CommandLineTest, RunPrintsHelpAndDoesNotRunTheBody) {
  const char* const words[] = {"program", "--help"};
  bool ran = false;
  const Outcome outcome = outcome_of([&] { return command_line.run(2, words, [&] { ran = true; }); });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.printed, command_line.help());
  EXPECT_FALSE(ran);
}

TEST_F(CommandLineTest, RunReadsTheFlagsAndRunsTheBody) {
  const char* const words[] = {"program", "--seed", "3"};
  std::int64_t seed = 0;
  EXPECT_EQ(command_line.run(3, words, [&] { seed = arguments.seed; }), 0);
  EXPECT_EQ(seed, 3);
}

TEST(RunMain, PrintsOnlyTheFirstLineOfAFailure) {
  const Outcome outcome =
      outcome_of([] { return run_main([] { throw std::runtime_error("no memory\nframe #0: x\nframe #1: y"); }); });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.errors, "error: no memory\n");
  EXPECT_EQ(outcome_of([] { return run_main([] { throw 3; }); }).errors, "error: an exception of unknown type\n");
  EXPECT_EQ(run_main([] {}), 0);
}

}  // namespace
}  // namespace lope
