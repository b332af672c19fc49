#include "python_only_arguments.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lope {
namespace {

// Names and defaults of transformers 5.24.
constexpr PythonOnlyArgument kPythonOnly[] = {
    {"accelerator_config",
     R"([{"split_batches": false, "dispatch_batches": null, "even_batches": true, "use_seedable_sampler": true,
          "non_blocking": false, "gradient_accumulation_kwargs": null}])"},
    {"activation_checkpointing", "[false]"},
    {"activation_checkpointing_kwargs", "[]"},
    {"auto_find_batch_size", "[false]"},
    {"average_tokens_across_devices", "[true]"},
    {"batch_eval_metrics", "[false]"},
    {"bf16_full_eval", "[false]"},
    {"dataloader_in_order", "[true]"},
    {"dataloader_multiprocessing_context", "[]"},
    {"ddp_backend", "[]"},
    {"ddp_broadcast_buffers", "[]"},
    {"ddp_bucket_cap_mb", "[]"},
    {"ddp_find_unused_parameters", "[]"},
    {"ddp_static_graph", "[]"},
    {"ddp_timeout", "[1800]"},
    {"debug", R"(["", []])"},
    {"deepspeed", "[]"},
    {"do_eval", "[false, true]"},
    {"do_predict", "[false, true]"},
    {"do_train", "[false, true]"},
    {"enable_jit_checkpoint", "[false]"},
    {"eval_accumulation_steps", "[]"},
    {"eval_delay", "[0]"},
    {"eval_do_concat_batches", "[true]"},
    {"eval_use_gather_object", "[false]"},
    {"fp16_full_eval", "[false]"},
    {"fsdp", "[]"},
    {"fsdp_config", "[]"},
    {"gradient_checkpointing", "[false]"},
    {"gradient_checkpointing_kwargs", "[]"},
    {"hub_always_push", "[false]"},
    {"hub_model_id", "[]"},
    {"hub_private_repo", "[]"},
    {"hub_revision", "[]"},
    {"hub_strategy", R"(["every_save"])"},
    {"hub_token", R"(["<HUB_TOKEN>"])"},
    {"ignore_data_skip", "[false]"},
    {"include_for_metrics", "[[]]"},
    {"include_num_input_tokens_seen", R"(["no", false])"},
    {"label_names", "[]"},
    {"length_column_name", R"(["length"])"},
    {"liger_kernel_config", "[]"},
    {"local_rank", "[-1]"},
    {"log_level", R"(["passive"])"},
    {"log_level_replica", R"(["warning"])"},
    {"log_on_each_node", "[true]"},
    {"logging_nan_inf_filter", "[true, false]"},
    {"neftune_noise_alpha", "[]"},
    {"optim_target_modules", "[]"},
    {"parallelism_config", "[]"},
    {"prediction_loss_only", "[false]"},
    {"project", R"(["huggingface"])"},
    {"push_to_hub", "[false]"},
    {"remove_unused_columns", "[true]"},
    {"report_to", R"(["none", ["none"], []])"},
    {"restore_callback_states_from_checkpoint", "[false]"},
    {"run_name", "[]"},
    {"save_on_each_node", "[false]"},
    {"skip_memory_metrics", "[true]"},
    {"torch_compile", "[false]"},
    {"torch_compile_backend", "[]"},
    {"torch_compile_mode", "[]"},
    {"torch_empty_cache_steps", "[]"},
    {"trackio_bucket_id", "[]"},
    {"trackio_space_id", "[]"},
    {"trackio_static_space_id", "[]"},
    {"use_cache", "[false]"},
    {"use_liger_kernel", "[false]"},
};

constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
    {"evaluation_strategy", "use eval_strategy"},
    {"group_by_length", R"(use train_sampling_strategy "group_by_length")"},
    {"no_cuda", "use use_cpu"},
    {"warmup_ratio", "use warmup_steps with a value below 1"},
};

}  // namespace

const PythonOnlyArgument* find_python_only_argument(std::string_view name) {
  const auto has_name = [&](const PythonOnlyArgument& argument) { return argument.name == name; };
  const auto found = std::find_if(std::begin(kPythonOnly), std::end(kPythonOnly), has_name);
  return found == std::end(kPythonOnly) ? nullptr : &*found;
}

std::string_view advice_for_old_name(std::string_view name) {
  for (const auto& [old_name, advice] : kOldNames) {
    if (old_name == name) return advice;
  }
  return {};
}

}  // namespace lope
