#pragma once
// What a training run needs to know: the field names, defaults and meanings of Hugging Face's class of this name.
//
//   TrainingArguments arguments{.output_dir = "run", .learning_rate = 3e-4, .bf16 = true};
//   arguments = TrainingArguments::from_json_file("args.json");  // a file of the Python Trainer will do
//   arguments.validate();

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lope/argument_map.h"

namespace lope {

inline constexpr std::array<std::string_view, 6> kOptimizerNames{"adamw_torch", "adamw_torch_fused", "adam",
                                                                 "sgd",         "adagrad",           "rmsprop"};

inline constexpr std::array<std::string_view, 10> kSchedulerNames{"linear",
                                                                  "cosine",
                                                                  "constant",
                                                                  "constant_with_warmup",
                                                                  "polynomial",
                                                                  "cosine_with_restarts",
                                                                  "inverse_sqrt",
                                                                  "reduce_lr_on_plateau",
                                                                  "cosine_with_min_lr",
                                                                  "warmup_stable_decay"};

inline constexpr std::array<std::string_view, 3> kIntervalNames{"no", "steps", "epoch"};
inline constexpr std::array<std::string_view, 4> kSaveStrategyNames{"no", "steps", "epoch", "best"};
inline constexpr std::array<std::string_view, 2> kSaveErrorNames{"stop", "continue"};
inline constexpr std::array<std::string_view, 3> kSamplingNames{"random", "sequential", "group_by_length"};

/// One argument as a help text or a table shows it.
struct ArgumentDescription {
  std::string name;
  std::string group;          ///< heading that it belongs under
  std::string default_value;  ///< as JSON
  std::string allowed;        ///< "a number of 0 or more"
  std::string help;
};

/// The arguments of one run. Plain values: nothing is checked before `validate`.
/// An empty string stands for Python's None; so does an empty optional.
struct TrainingArguments {
  std::string output_dir = "trainer_output";
  std::int64_t seed = 42;
  std::optional<std::int64_t> data_seed = std::nullopt;
  bool full_determinism = false;
  bool use_cpu = false;
  std::string device = "auto";
  std::optional<bool> disable_tqdm = std::nullopt;

  std::int64_t per_device_train_batch_size = 8;
  std::int64_t per_device_eval_batch_size = 8;
  std::int64_t gradient_accumulation_steps = 1;
  double num_train_epochs = 3.0;
  std::int64_t max_steps = -1;
  double label_smoothing_factor = 0.0;

  std::string optim = "adamw_torch_fused";
  std::string optim_args = "";
  double learning_rate = 5e-5;
  double weight_decay = 0.0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double max_grad_norm = 1.0;
  double max_grad_value = 0.0;
  std::int64_t max_nonfinite_updates = 20;

  std::string lr_scheduler_type = "linear";
  ArgumentMap lr_scheduler_kwargs = {};
  double warmup_steps = 0.0;

  bool fp16 = false;
  bool bf16 = false;
  std::optional<bool> tf32 = std::nullopt;
  double fp16_init_scale = 65536.0;
  std::int64_t fp16_scale_growth_interval = 2000;

  std::string logging_strategy = "steps";
  double logging_steps = 500.0;
  bool logging_first_step = false;

  std::string eval_strategy = "no";
  std::optional<double> eval_steps = std::nullopt;
  bool eval_on_start = false;

  std::string save_strategy = "steps";
  double save_steps = 500.0;
  std::optional<std::int64_t> save_total_limit = std::nullopt;
  bool save_only_model = false;
  bool save_in_background = true;
  std::string save_on_error = "stop";
  bool load_best_model_at_end = false;
  std::string metric_for_best_model = "";
  std::optional<bool> greater_is_better = std::nullopt;
  std::string resume_from_checkpoint = "";

  std::string train_sampling_strategy = "random";
  bool dataloader_drop_last = false;
  std::int64_t dataloader_num_workers = 0;
  std::optional<std::int64_t> dataloader_prefetch_factor = std::nullopt;
  bool dataloader_pin_memory = true;
  bool dataloader_persistent_workers = false;

  /// Reads a JSON object of fields; those not named keep their defaults. Fields that only the Python class has are
  /// accepted with their default value. The result is not validated.
  /// @throws Error naming the field that is unknown, unsupported or of the wrong type
  static TrainingArguments from_json(std::string_view text);

  /// As `from_json`, from a file. @throws Error naming the file too
  static TrainingArguments from_json_file(const std::filesystem::path& path);

  /// Reads a JSON object over the present values.
  void merge_json(std::string_view text);

  /// As `merge_json`, from a file. @throws Error naming the file too
  void merge_json_file(const std::filesystem::path& path);

  /// All fields that the Python class has, and those of Lope's own that differ from their default, so that Python
  /// can read it too. Indented by two spaces, no line break at the end.
  std::string to_json() const;

  /// @throws Error for the first value or combination that is not allowed
  void validate() const;

  /// `eval_steps`, or `logging_steps` where it is not given; below 1 it is a part of all updates.
  double eval_interval() const { return eval_steps.value_or(logging_steps); }

  /// `metric_for_best_model`, or "loss".
  std::string best_metric() const { return metric_for_best_model.empty() ? "loss" : metric_for_best_model; }

  /// `greater_is_better`, or true for a metric whose name does not end in "loss".
  bool best_is_greater() const { return greater_is_better.value_or(!best_metric().ends_with("loss")); }

  /// Seed of the order of the examples: `data_seed`, or `seed`.
  std::int64_t order_seed() const { return data_seed.value_or(seed); }

  /// Every field in the order of the help text.
  static std::vector<ArgumentDescription> describe();

  bool operator==(const TrainingArguments&) const = default;
};

}  // namespace lope
