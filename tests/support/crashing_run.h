#pragma once
// Trainings that are cut short and go on: a small net with dropout and a running mean on shuffled rows.
//
//   RunResult whole = run_training(arguments, data);
//   run_until(13, arguments, data);                            // dies after update 13
//   arguments.resume_from_checkpoint = "true";
//   expect_same_run(run_training(arguments, data), whole);

#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <lope/seed.h>
#include <lope/trainer.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lope::testing {

/// Rows of 6 numbers, their target, and their number as "id".
inline TensorDataset numbered_rows(int64_t rows) {
  set_seed(7);
  const at::Tensor x = at::randn({rows, 6});
  return TensorDataset({{"x", x}, {"y", x.sum(1, true)}, {"id", at::arange(rows)}});
}

/// Dropout, and a buffer that each training step changes, as batch normalisation has it.
struct DropoutModule : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(6, 8));
  torch::nn::Dropout dropout = register_module("dropout", torch::nn::Dropout(0.5));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(8, 1));
  at::Tensor mean = register_buffer("mean", at::zeros({8}));

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = first->forward(x);
    if (is_training()) mean.lerp_(hidden.detach().to(at::kFloat).mean(0), 0.1);
    return last->forward(dropout->forward((hidden - mean).relu()));
  }
};

struct DropoutNet {
  std::shared_ptr<DropoutModule> net = std::make_shared<DropoutModule>();
  std::vector<int64_t> ids;

  static DropoutNet seeded() {
    set_seed(1);
    return {};
  }

  LossFunction loss() {
    return [this](const Batch& batch) -> Loss {
      if (net->is_training()) {
        for (int64_t row = 0; row < batch.rows(); ++row) ids.push_back(batch["id"][row].item<int64_t>());
      }
      return {(net->forward(batch["x"]) - batch["y"]).square().sum(), batch.rows()};
    };
  }
};

inline TrainingArguments resumable_arguments(const std::string& output_dir) {
  TrainingArguments arguments;
  arguments.output_dir = output_dir;
  arguments.use_cpu = true;
  arguments.disable_tqdm = true;
  arguments.per_device_train_batch_size = 2;
  arguments.max_steps = 20;
  arguments.learning_rate = 0.05;
  arguments.warmup_steps = 3;
  arguments.lr_scheduler_type = "cosine";
  arguments.logging_steps = 3;
  arguments.save_steps = 10;
  return arguments;
}

/// Throws after an update, as a crash would.
class CrashAfter : public Callback {
 public:
  explicit CrashAfter(int64_t step) : step_(step) {}
  void on_step_end(const TrainingContext& context, const StepReport&, Control&) override {
    if (context.progress.step == step_) throw std::runtime_error("crash");
  }

 private:
  int64_t step_;
};

struct RunResult {
  TensorMap weights;
  std::vector<int64_t> ids;
  std::vector<LogEntry> log;
  TrainOutput output;
};

inline RunResult run_training(const TrainingArguments& arguments, const Dataset& data, TrainerOptions options = {}) {
  DropoutNet net = DropoutNet::seeded();
  options.train_dataset = &data;
  if (arguments.eval_strategy != "no") options.eval_dataset = &data;
  options.default_callbacks = false;
  Trainer trainer(arguments, net.net, net.loss(), std::move(options));
  RunResult result;
  result.output = trainer.train();
  for (const auto& [name, tensor] : trainer.model().state()) result.weights.emplace(name, tensor.detach().clone());
  result.ids = net.ids;
  result.log = trainer.log_history();
  return result;
}

/// The same training, dead after `step`.
inline void run_until(int64_t step, const TrainingArguments& arguments, const Dataset& data,
                      TrainerOptions options = {}) {
  options.callbacks.push_back(std::make_shared<CrashAfter>(step));
  EXPECT_THROW(run_training(arguments, data, std::move(options)), std::runtime_error);
}

/// Log entries without times.
inline std::vector<std::string> log_lines(const std::vector<LogEntry>& log) {
  std::vector<std::string> lines;
  for (const auto& entry : log) {
    if (entry.find("train_runtime")) continue;
    std::string line = std::to_string(entry.step) + " " + std::to_string(entry.epoch);
    for (const auto& [name, value] : entry.values) {
      if (name.ends_with("_runtime") || name.ends_with("_per_second")) continue;
      // All NaN are one: a JSON text does not keep their sign.
      line += " " + name + "=" + (std::isnan(value) ? "nan" : std::to_string(std::bit_cast<uint64_t>(value)));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

inline void expect_same_weights(const TensorMap& given, const TensorMap& expected) {
  ASSERT_EQ(given.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(given.at(name).equal(tensor)) << name;
}

/// Bit for bit; `given` is what came after the break, so its example ids are the last ones.
inline void expect_same_run(const RunResult& given, const RunResult& expected) {
  expect_same_weights(given.weights, expected.weights);
  EXPECT_EQ(log_lines(given.log), log_lines(expected.log));
  ASSERT_LE(given.ids.size(), expected.ids.size());
  const std::vector<int64_t> last(expected.ids.end() - static_cast<std::ptrdiff_t>(given.ids.size()),
                                  expected.ids.end());
  EXPECT_EQ(given.ids, last);
}

}  // namespace lope::testing
