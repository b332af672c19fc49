#pragma once
// How a trainer's arguments become those of its loaders.

#include "lope/loader.h"
#include "lope/trainer.h"

namespace lope {

LoaderOptions training_loader_options(const TrainingArguments& arguments, const TrainerOptions& options,
                                      at::Device device);
LoaderOptions evaluation_loader_options(const TrainingArguments& arguments, const TrainerOptions& options,
                                        at::Device device);

}  // namespace lope
