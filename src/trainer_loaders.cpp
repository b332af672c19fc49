#include "trainer_loaders.h"

namespace lope {
namespace {

SamplingStrategy sampling_strategy(const std::string& name) {
  if (name == "sequential") return SamplingStrategy::kSequential;
  return name == "group_by_length" ? SamplingStrategy::kGroupByLength : SamplingStrategy::kRandom;
}

LoaderOptions common_options(const TrainingArguments& arguments, const TrainerOptions& options, at::Device device) {
  LoaderOptions loader;
  loader.pin_memory = arguments.dataloader_pin_memory && device.is_cuda();
  loader.collator = options.collator;
  loader.num_workers = arguments.dataloader_num_workers;
  loader.prefetch_factor = arguments.dataloader_prefetch_factor.value_or(loader.prefetch_factor);
  if (!device.is_cpu()) loader.device = device;
  return loader;
}

}  // namespace

LoaderOptions training_loader_options(const TrainingArguments& arguments, const TrainerOptions& options,
                                      at::Device device) {
  LoaderOptions loader = common_options(arguments, options, device);
  loader.batch_size = arguments.per_device_train_batch_size;
  loader.seed = static_cast<uint64_t>(arguments.order_seed());
  loader.sampling_strategy = sampling_strategy(arguments.train_sampling_strategy);
  loader.drop_last = arguments.dataloader_drop_last;
  loader.persistent_workers = arguments.dataloader_persistent_workers;
  loader.augment = true;
  // Counting looks at values, which on a device would wait for it.
  if (options.count_items) loader.device.reset();
  return loader;
}

LoaderOptions evaluation_loader_options(const TrainingArguments& arguments, const TrainerOptions& options,
                                        at::Device device) {
  LoaderOptions loader = common_options(arguments, options, device);
  loader.batch_size = arguments.per_device_eval_batch_size;
  loader.sampling_strategy = SamplingStrategy::kSequential;
  return loader;
}

}  // namespace lope
