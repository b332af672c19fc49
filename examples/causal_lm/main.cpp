// Trains a GPT-2 language model, from nothing or from a Hugging Face folder, and samples text from it. See README.md.

#include <cmath>
#include <iostream>

#include "data.h"
#include "generate.h"
#include "gpt2.h"
#include "gpt2_folder.h"
#include "lope/collate.h"
#include "lope/command_line.h"
#include "lope/error.h"
#include "lope/loss.h"
#include "lope/seed.h"
#include "lope/stop_signals.h"
#include "lope/trainer.h"
#include "lope/training_arguments.h"

namespace {

struct Options {
  std::string model_name_or_path;
  std::string train_file;
  std::string validation_file;
  int64_t block_size = 0;
  Gpt2Config new_model{.n_layer = 4,
                       .n_head = 4,
                       .n_embd = 128,
                       .n_positions = 128,
                       .vocab_size = 256,
                       .activation_function = "gelu_pytorch_tanh"};
  double dropout = 0.0;
  GenerateOptions generate;
};

void add_flags(lope::CommandLine& command_line, Options& options) {
  const lope::OptionRules positive{.at_least = 1};
  const lope::OptionRules not_negative{.at_least = 0};
  command_line
      .add("model_name_or_path", options.model_name_or_path,
           "GPT-2 folder to start from; without it a new model is made.")
      .add("train_file", options.train_file,
           "What to train on: .txt (bytes), .jsonl (input_ids) or .bin (uint16 tokens).")
      .add("validation_file", options.validation_file, "What to evaluate on: the same kinds of file.")
      .add("block_size", options.block_size, "Tokens an example of a .txt or .bin; 0: n_positions of the model.",
           not_negative)
      .add("n_layer", options.new_model.n_layer, "Layers of a new model.", positive)
      .add("n_head", options.new_model.n_head, "Attention heads of a new model.", positive)
      .add("n_embd", options.new_model.n_embd, "Width of a new model.", positive)
      .add("vocab_size", options.new_model.vocab_size, "Tokens that a new model knows.", positive)
      .add("dropout", options.dropout, "All three dropout probabilities of a new model.", not_negative)
      .add("generate", options.generate.length, "Bytes of text to sample in the end.", not_negative)
      .add("prompt", options.generate.prompt, "What the sample begins with.")
      .add("temperature", options.generate.temperature, "Below 1 samples are more predictable.", not_negative)
      .add("top_k", options.generate.top_k, "Sample from this many likeliest bytes; 0 for all.", not_negative);
}

Gpt2 make_model(const Options& options) {
  if (!options.model_name_or_path.empty()) return load_gpt2(options.model_name_or_path);
  Gpt2Config config = options.new_model;
  if (options.block_size > 0) config.n_positions = options.block_size;
  // GPT-2's 0.02 is for a width of 768: narrow models learn much faster from larger weights.
  config.initializer_range = 0.02 * std::sqrt(768.0 / static_cast<double>(config.n_embd));
  config.resid_pdrop = config.embd_pdrop = config.attn_pdrop = options.dropout;
  return Gpt2(config);
}

DataLimits data_limits(const Options& options, const Gpt2Config& config) {
  if (options.block_size > config.n_positions) {
    throw lope::Error("block_size is " + std::to_string(options.block_size) +
                      ": the model's n_positions allows at most " + std::to_string(config.n_positions));
  }
  return {config.vocab_size, config.n_positions, options.block_size > 0 ? options.block_size : config.n_positions};
}

std::unique_ptr<lope::Dataset> open_if_given(const std::string& path, const DataLimits& limits) {
  return path.empty() ? nullptr : open_data(path, limits);
}

/// The loss that the training has just logged, or else a new evaluation.
double validation_loss(lope::Trainer& trainer) {
  const auto& log = trainer.log_history();
  for (auto entry = log.rbegin(); entry != log.rend() && entry->step == trainer.progress().step; ++entry) {
    if (const auto loss = entry->find("eval_loss")) return *loss;
  }
  return trainer.evaluate().at("eval_loss");
}

/// The exit code of the program: that of a signal when one has stopped the training.
int train_and_evaluate(const Options& options, const lope::TrainingArguments& arguments, Gpt2& model) {
  const DataLimits limits = data_limits(options, model->config());
  const auto train_data = open_if_given(options.train_file, limits);
  const auto validation_data = open_if_given(options.validation_file, limits);

  // Attention is causal, padding is on the right and its labels are -100: it is never attended to nor counted.
  const auto loss = [&](const lope::Batch& batch) {
    return lope::causal_lm_loss(model->forward(batch["input_ids"]), batch["labels"],
                                {.label_smoothing = arguments.label_smoothing_factor});
  };
  const lope::StopSignals signals;
  lope::Trainer trainer(
      arguments, model, loss,
      {.train_dataset = train_data.get(),
       .eval_dataset = validation_data.get(),
       .collator = lope::PadCollator(),
       .count_items = [](const lope::Batch& batch) { return lope::causal_lm_items(batch["labels"]); },
       .model_files = {{"config.json", gpt2_config_text(model->config(), options.model_name_or_path)}},
       .stop_token = signals.token()});
  if (train_data) {
    if (trainer.train().interrupted) return signals.exit_code();
    trainer.save_model();
  }
  if (validation_data) std::cout << "eval_loss " << validation_loss(trainer) << '\n';
  return 0;
}

void check_task(const Options& options) {
  const bool has_data = !options.train_file.empty() || !options.validation_file.empty();
  if (!has_data && options.generate.length == 0) {
    throw lope::Error("nothing to do: give --train_file, --validation_file or --generate");
  }
  if (options.train_file.empty() && options.model_name_or_path.empty()) {
    throw lope::Error("a new model knows nothing: give --train_file, or --model_name_or_path for a trained one");
  }
}

int run(const Options& options, const lope::TrainingArguments& arguments) {
  check_task(options);
  lope::set_seed(static_cast<uint64_t>(arguments.seed));
  Gpt2 model = make_model(options);
  if (!options.train_file.empty() || !options.validation_file.empty()) {
    if (const int code = train_and_evaluate(options, arguments, model)) return code;
  }
  if (options.generate.length == 0) return 0;
  lope::set_seed(static_cast<uint64_t>(arguments.seed));
  std::cout << generate(model, options.generate) << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  lope::TrainingArguments arguments{.output_dir = "causal_lm_output"};
  lope::CommandLine command_line("causal_lm", "Trains a GPT-2 language model and samples text from it.");
  add_flags(command_line, options);
  command_line.add(arguments);
  int code = 0;
  const int failure = command_line.run(argc, argv, [&] { code = run(options, arguments); });
  return failure != 0 ? failure : code;
}
