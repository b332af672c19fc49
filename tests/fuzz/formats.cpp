#include "formats.h"

#include <lope/safetensors_header.h>
#include <lope/trainer_state.h>
#include <lope/training_arguments.h>

#include <cstdint>

#include "../../src/manifest.h"
#include "../../src/run_position.h"

namespace fuzz {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string safetensors_file(const std::string& header, std::size_t data_bytes) {
  std::string file(sizeof(std::uint64_t), '\0');
  for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i)
    file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + std::string(data_bytes, '\x01');
}

std::vector<std::string> safetensors_seeds() {
  return {safetensors_file(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
          safetensors_file(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BOOL","shape":[5],"data_offsets":[8,13]},)"
                           R"("w":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})",
                           13),
          safetensors_file(R"({"none":{"dtype":"BF16","shape":[0,7],"data_offsets":[0,0]}})", 0),
          safetensors_file("{}", 0)};
}

std::vector<std::string> manifest_seeds() {
  return {lope::manifest_text({}),
          lope::manifest_text({{"model.safetensors", {.bytes = 123456, .checksum = 0x0123456789abcdef}},
                               {"progress.json", {.bytes = 512, .checksum = 7}}})};
}

std::vector<std::string> run_position_seeds() {
  lope::RunPosition late{.examples_per_epoch = 64, .epoch_ended = true, .optimizer = "adamw_torch"};
  late.plateau.emplace();
  late.best_saved.emplace();
  return {lope::RunPosition{}.to_json(), late.to_json()};
}

std::vector<std::string> trainer_state_seeds() {
  lope::TrainerState state;
  state.log_history.push_back({.values = {{"loss", 2.5}, {"grad_norm", 1e-7}}, .epoch = 0.5, .step = 10});
  state.log_history.push_back({.values = {{"eval_loss", 2.25}}, .epoch = 1.0, .step = 20});
  state.stateful_callbacks["EarlyStoppingCallback"] = R"({"args": {"early_stopping_patience": 3}, "attributes": {}})";
  return {lope::TrainerState{}.to_json(), state.to_json()};
}

std::vector<std::string> argument_seeds() {
  return {
      lope::TrainingArguments{}.to_json(), R"({"learning_rate": 5e-5, "optim_args": "a=1,b=true", "bf16": true})",
      R"({"lr_scheduler_kwargs": {"num_cycles": 2, "min_lr": 1e-6}, "eval_steps": 0.1, "fsdp": [], "push_to_hub": false})"};
}

}  // namespace

void fuzz_safetensors(std::span<const std::byte> bytes) {
  const lope::SafetensorsHeader header = lope::parse_safetensors(bytes, "input");
  unsigned sum = 0;
  for (const auto& entry : header.entries) {
    for (std::size_t i = entry.begin; i < entry.end; ++i) sum += std::to_integer<unsigned>(bytes[i]);
  }
  [[maybe_unused]] const volatile unsigned kept = sum;
}

void fuzz_manifest(std::span<const std::byte> bytes) { lope::parse_manifest(text_of(bytes)); }

void fuzz_run_position(std::span<const std::byte> bytes) { lope::RunPosition::from_json(text_of(bytes)); }

void fuzz_trainer_state(std::span<const std::byte> bytes) { lope::TrainerState::from_json(text_of(bytes)); }

void fuzz_arguments(std::span<const std::byte> bytes) { lope::TrainingArguments::from_json(text_of(bytes)); }

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {.name = "safetensors", .read = fuzz_safetensors, .has_length = true, .seeds = safetensors_seeds()},
      {.name = "manifest", .read = fuzz_manifest, .seeds = manifest_seeds()},
      {.name = "run_position", .read = fuzz_run_position, .seeds = run_position_seeds()},
      {.name = "trainer_state", .read = fuzz_trainer_state, .seeds = trainer_state_seeds()},
      {.name = "arguments", .read = fuzz_arguments, .seeds = argument_seeds()}};
  return all;
}

}  // namespace fuzz
