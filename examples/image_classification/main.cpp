// Trains a small convolutional net on Fashion-MNIST. See README.md.

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/rand.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "lope/command_line.h"
#include "lope/dataset_views.h"
#include "lope/error.h"
#include "lope/image_dataset.h"
#include "lope/loss.h"
#include "lope/seed.h"
#include "lope/trainer.h"
#include "lope/training_arguments.h"
#include "net.h"

namespace {

constexpr std::array<const char*, 10> kClasses{"T-shirt", "trouser", "pullover", "dress", "coat",
                                               "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
constexpr int64_t kPixels = 28;
/// Of all pixels of the training images.
constexpr lope::PixelScale kScale{.mean = 0.2860, .deviation = 0.3530};

struct Options {
  std::string data = "/usr/share/datasets/fashion-mnist";
  int64_t shift = 1;
  bool flip = true;
};

lope::TrainingArguments default_arguments() {
  return {.output_dir = "image_classification_output",
          .per_device_train_batch_size = 64,
          .per_device_eval_batch_size = 500,
          .num_train_epochs = 14,
          .label_smoothing_factor = 0.05,
          .learning_rate = 2e-3,
          .weight_decay = 0.02,
          .lr_scheduler_type = "cosine",
          .warmup_steps = 0.15,
          .logging_strategy = "epoch",
          .eval_strategy = "epoch",
          .save_strategy = "no"};
}

void add_flags(lope::CommandLine& command_line, Options& options) {
  command_line
      .add("data", options.data, "Folder with the four IDX files of Fashion-MNIST (or MNIST), plain or with .gz.")
      .add("shift", options.shift, "Training moves an image by up to this many pixels.", {.at_least = 0})
      .add("flip", options.flip, "Training mirrors every other image.");
}

lope::ImageDataset open_data(const std::string& folder, lope::MnistSplit split) {
  if (!std::filesystem::is_directory(folder)) {
    throw lope::Error(
        "there is no folder " + folder +
        ": apt-get install dataset-fashion-mnist makes /usr/share/datasets/fashion-mnist, or give another "
        "folder with --data");
  }
  auto data = lope::ImageDataset::mnist(folder, split, kScale);
  const at::Tensor& images = data.images();
  if (images.size(1) != 1 || images.size(2) != kPixels || images.size(3) != kPixels) {
    throw lope::Error(folder + ": the net needs images of 28 x 28 pixels with one channel");
  }
  if (data.size() == 0 || data.labels().min().item<int64_t>() < 0 ||
      data.labels().max().item<int64_t>() >= static_cast<int64_t>(kClasses.size())) {
    throw lope::Error(folder + ": there must be images, with labels from 0 to 9");
  }
  return data;
}

/// Moves the image in both directions and mirrors it, by chance.
lope::Batch augment(lope::Batch example, const at::Generator& generator, const Options& options) {
  const at::Tensor draws = at::rand({3}, generator);
  const auto* draw = draws.const_data_ptr<float>();
  const auto side = static_cast<float>(2 * options.shift + 1);
  const auto down = static_cast<int64_t>(draw[0] * side);
  const auto right = static_cast<int64_t>(draw[1] * side);
  const double background = -kScale.mean / kScale.deviation;
  const std::vector<int64_t> border(4, options.shift);
  at::Tensor image = at::constant_pad_nd(example["pixel_values"], border, background)
                         .slice(1, down, down + kPixels)
                         .slice(2, right, right + kPixels);
  if (options.flip && draw[2] < 0.5F) image = image.flip({2});
  example.set("pixel_values", std::move(image));
  return example;
}

lope::Metrics accuracy(const lope::EvalPrediction& evaluation) {
  const at::Tensor right = evaluation.predictions.argmax(1).eq(evaluation.labels["labels"]);
  return {{"accuracy", right.to(at::kDouble).mean().item<double>()}};
}

/// How many images of each class (rows) were taken for each class (columns).
void print_confusion(const at::Tensor& predicted, const at::Tensor& labels) {
  const auto classes = static_cast<int64_t>(kClasses.size());
  const at::Tensor table = (labels * classes + predicted).bincount({}, classes * classes).reshape({classes, classes});
  std::printf("%-9s", "");
  for (const char* name : kClasses) std::printf("%9s", name);
  for (int64_t row = 0; row < classes; ++row) {
    std::printf("\n%-9s", kClasses[static_cast<size_t>(row)]);
    for (int64_t column = 0; column < classes; ++column) {
      std::printf("%9lld", static_cast<long long>(table[row][column].item<int64_t>()));
    }
  }
  std::printf("\n");
}

void run(const Options& options, const lope::TrainingArguments& arguments) {
  const lope::ImageDataset train_images = open_data(options.data, lope::MnistSplit::kTrain);
  const lope::ImageDataset test_images = open_data(options.data, lope::MnistSplit::kTest);
  const lope::AugmentedDataset train_data(train_images, [&](lope::Batch example, const at::Generator& generator) {
    return augment(std::move(example), generator, options);
  });

  lope::set_seed(static_cast<uint64_t>(arguments.seed));
  ImageNet28 net(static_cast<int64_t>(kClasses.size()));
  const auto loss = [&](const lope::Batch& batch) {
    const at::Tensor& pixels = batch["pixel_values"];
    at::Tensor logits = net->forward(pixels);
    // The net has learnt both sides of each image: evaluation takes the mean of what it says to them.
    if (options.flip && !net->is_training()) logits = (logits + net->forward(pixels.flip({3}))) / 2;
    lope::Loss result =
        lope::cross_entropy(logits, batch["labels"], {.label_smoothing = arguments.label_smoothing_factor});
    result.predictions = logits;
    return result;
  };
  lope::Trainer trainer(arguments, net, loss,
                        {.train_dataset = &train_data, .eval_dataset = &test_images, .compute_metrics = accuracy});
  trainer.train();
  trainer.save_model();
  const lope::PredictOutput test = trainer.predict(test_images);
  print_confusion(test.predictions.argmax(1), test.labels["labels"]);
  std::printf("accuracy %.4f on %lld test images\n", test.metrics.at("test_accuracy"),
              static_cast<long long>(test_images.size()));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  lope::TrainingArguments arguments = default_arguments();
  lope::CommandLine command_line("image_classification", "Trains a small convolutional net on Fashion-MNIST.");
  add_flags(command_line, options);
  command_line.add(arguments);
  return command_line.run(argc, argv, [&] { run(options, arguments); });
}
