// Trains with everything that has a state (dropout, shuffling, workers, accumulation, fp16, evaluation, best model),
// and goes on from the newest checkpoint of its output folder: whoever kills it starts it again.
//
//   kill_run OUTPUT_DIR WORKERS          prints "begun" when it trains, "done" at the end

#include <ATen/ops/randn.h>
#include <lope/callbacks/early_stopping.h>
#include <lope/command_line.h>
#include <lope/seed.h>
#include <lope/trainer.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include <iostream>
#include <memory>
#include <string>

namespace {

/// Joined by a collator, one example at a time, so that workers have something to do.
class Rows : public lope::Dataset {
 public:
  explicit Rows(int64_t rows) : x_(at::randn({rows, 32})), y_(x_.sum(1, true)) {}
  int64_t size() const override { return x_.size(0); }
  lope::Batch get(int64_t index) const override { return {{"x", x_[index]}, {"y", y_[index]}}; }

 private:
  at::Tensor x_;
  at::Tensor y_;
};

class Announce : public lope::Callback {
 public:
  void on_train_begin(const lope::TrainingContext&, lope::Control&) override { std::cout << "begun" << std::endl; }
};

lope::TrainingArguments arguments_for(const std::string& output_dir, int64_t workers) {
  lope::TrainingArguments arguments;
  arguments.output_dir = output_dir;
  arguments.use_cpu = true;
  arguments.disable_tqdm = true;
  arguments.per_device_train_batch_size = 4;
  arguments.gradient_accumulation_steps = 3;
  arguments.max_steps = 400;
  arguments.learning_rate = 1e-2;
  arguments.lr_scheduler_type = "cosine";
  arguments.warmup_steps = 20;
  arguments.fp16 = true;
  arguments.fp16_init_scale = 1e8;
  arguments.fp16_scale_growth_interval = 30;
  arguments.logging_steps = 7;
  arguments.eval_strategy = "steps";
  arguments.eval_steps = 16;
  arguments.save_steps = 4;
  arguments.save_total_limit = 2;
  arguments.dataloader_num_workers = workers;
  arguments.resume_from_checkpoint = "true";
  return arguments;
}

void train(const std::string& output_dir, int64_t workers) {
  lope::set_seed(3);
  const Rows data(150);
  torch::nn::Sequential net(torch::nn::Linear(32, 256), torch::nn::BatchNorm1d(256), torch::nn::ReLU(),
                            torch::nn::Dropout(0.3), torch::nn::Linear(256, 256), torch::nn::ReLU(),
                            torch::nn::Linear(256, 1));
  const auto loss = [&](const lope::Batch& batch) -> lope::Loss {
    return {(net->forward(batch["x"]) - batch["y"]).square().sum(), batch.rows()};
  };
  lope::Trainer trainer(arguments_for(output_dir, workers), net, loss,
                        {.train_dataset = &data,
                         .eval_dataset = &data,
                         .callbacks = {std::make_shared<lope::EarlyStopping>(1000), std::make_shared<Announce>()}});
  trainer.train();
  std::cout << "done" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  return lope::run_main([&] {
    if (argc != 3) throw std::invalid_argument("usage: kill_run OUTPUT_DIR WORKERS");
    train(argv[1], std::stoll(argv[2]));
  });
}
