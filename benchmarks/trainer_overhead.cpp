// What the Trainer costs over the same loop written by hand with ATen's fused kernels: an MLP of 64-64-64-1, batch 8,
// 4 micro-batches an update, clipping, a linear schedule, a log every 50 updates. Both run in turn in one process.
//
//   OMP_NUM_THREADS=1 trainer_overhead [rounds]

#include <lope/lope.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr int64_t kRows = 4096;
constexpr int64_t kBatch = 8;
constexpr int64_t kAccumulate = 4;
constexpr int64_t kUpdates = 2000;
constexpr double kRate = 1e-3;

struct Data {
  at::Tensor x = torch::randn({kRows, 64});
  at::Tensor y = x.sum(1, true).tanh();
};

torch::nn::Sequential make_mlp() {
  torch::manual_seed(1);
  using torch::nn::Linear;
  using torch::nn::ReLU;
  return torch::nn::Sequential(Linear(64, 64), ReLU(), Linear(64, 64), ReLU(), Linear(64, 1));
}

/// The loop as a careful expert writes it.
double train_by_hand(const Data& data) {
  torch::nn::Sequential net = make_mlp();
  std::vector<at::Tensor> parameters = net->parameters();
  std::vector<at::Tensor> first;
  std::vector<at::Tensor> second;
  std::vector<at::Tensor> steps;
  for (const auto& parameter : parameters) {
    first.push_back(torch::zeros_like(parameter));
    second.push_back(torch::zeros_like(parameter));
    steps.push_back(torch::zeros({}));
  }
  std::vector<at::Tensor> gradients(parameters.size());
  at::Tensor order = torch::randperm(kRows);
  at::Tensor loss_sum = torch::zeros({});
  double logged = 0.0;
  int64_t position = 0;
  for (int64_t update = 0; update < kUpdates; ++update) {
    for (int64_t micro = 0; micro < kAccumulate; ++micro, position += kBatch) {
      if (position + kBatch > kRows) {
        order = torch::randperm(kRows);
        position = 0;
      }
      const at::Tensor rows = order.narrow(0, position, kBatch);
      const at::Tensor loss =
          torch::mse_loss(net->forward(data.x.index_select(0, rows)), data.y.index_select(0, rows)) / kAccumulate;
      loss.backward();
      loss_sum += loss.detach();
    }
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); ++i) gradients[i] = parameters[i].grad();
    const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)));
    at::_foreach_mul_(gradients, (1.0 / (norm + 1e-6)).clamp_max(1.0));
    at::_foreach_add_(steps, 1);
    const double rate = kRate * static_cast<double>(kUpdates - update) / static_cast<double>(kUpdates);
    at::_fused_adamw_(parameters, gradients, first, second, {}, steps, rate, 0.9, 0.999, 0.0, 1e-8, false, false);
    for (auto& parameter : parameters) parameter.mutable_grad().reset();
    if ((update + 1) % 50 == 0) {
      logged = loss_sum.item<double>() / 50.0;
      loss_sum.zero_();
    }
  }
  return logged;
}

double train_with_lope(const lope::TensorDataset& data, const std::string& folder) {
  torch::nn::Sequential net = make_mlp();
  lope::Trainer trainer({.output_dir = folder,
                         .use_cpu = true,
                         .disable_tqdm = true,
                         .per_device_train_batch_size = kBatch,
                         .gradient_accumulation_steps = kAccumulate,
                         .max_steps = kUpdates,
                         .learning_rate = kRate,
                         .logging_steps = 50,
                         .save_strategy = "no"},
                        net,
                        [&](const lope::Batch& batch) { return lope::mse_loss(net->forward(batch["x"]), batch["y"]); },
                        {.train_dataset = &data});
  trainer.train();
  return trainer.log_history().at(trainer.log_history().size() - 2).find("loss").value_or(0.0);
}

template <typename Function>
double micro_seconds(const Function& train) {
  const auto begin = std::chrono::steady_clock::now();
  train();
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return time.count() / static_cast<double>(kUpdates * kAccumulate);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  return lope::run_main([&] {
    const int rounds = argc > 1 ? std::stoi(argv[1]) : 11;
    const Data data;
    const lope::TensorDataset rows({{"x", data.x}, {"y", data.y}});
    const auto folder = std::filesystem::temp_directory_path() / "lope_trainer_overhead";
    std::vector<double> by_hand;
    std::vector<double> lope_times;
    std::vector<double> ratios;
    double hand_loss = 0.0;
    double lope_loss = 0.0;
    for (int round = 0; round < rounds; ++round) {
      by_hand.push_back(micro_seconds([&] { hand_loss = train_by_hand(data); }));
      lope_times.push_back(micro_seconds([&] { lope_loss = train_with_lope(rows, folder.string()); }));
      ratios.push_back(lope_times.back() / by_hand.back());
    }
    std::filesystem::remove_all(folder);
    std::printf("last logged loss: by hand %.4f, Lope %.4f\n", hand_loss, lope_loss);
    std::printf("a micro-step (median of %d rounds in turn): by hand %.1f us, Lope %.1f us\n", rounds, median(by_hand),
                median(lope_times));
    std::printf("ratio Lope / by hand: %.3f\n", median(ratios));
  });
}
