#pragma once
// GPT-2 as a LibTorch module. Names and shapes of the parameters are those of Hugging Face's GPT2LMHeadModel.
//
//   Gpt2 model(Gpt2Config{.n_layer = 4, .n_head = 4, .n_embd = 128, .n_positions = 128, .vocab_size = 256});
//   at::Tensor logits = model->forward(input_ids);        // (rows, length) -> (rows, length, vocab_size)

#include <torch/nn.h>

#include <cstdint>
#include <optional>
#include <string>

/// The fields of a GPT-2 config.json that change the numbers, with its names and defaults.
struct Gpt2Config {
  int64_t n_layer = 12;
  int64_t n_head = 12;
  int64_t n_embd = 768;
  int64_t n_positions = 1024;  ///< longest sequence
  int64_t vocab_size = 50257;
  std::optional<int64_t> n_inner = std::nullopt;  ///< width of the MLP; 4 * n_embd when it is not given
  double resid_pdrop = 0.1;
  double embd_pdrop = 0.1;
  double attn_pdrop = 0.1;
  double layer_norm_epsilon = 1e-5;
  /// "gelu_new" or "gelu_pytorch_tanh": the same function, to rounding; the second is one kernel, and faster.
  std::string activation_function = "gelu_new";
  double initializer_range = 0.02;
};

/// Throws lope::Error naming the first field that no model can have.
void check(const Gpt2Config& config);

/// A linear layer whose weight is stored as (in, out), as GPT-2's files have it.
class Conv1dImpl : public torch::nn::Module {
 public:
  /// The weight is drawn from a normal distribution with this standard deviation; the bias is 0.
  Conv1dImpl(int64_t in, int64_t out, double deviation);
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor weight_;
  at::Tensor bias_;
};
TORCH_MODULE(Conv1d);

class AttentionImpl : public torch::nn::Module {
 public:
  explicit AttentionImpl(const Gpt2Config& config);
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor split_heads(const at::Tensor& x) const;

  int64_t heads_;
  double dropout_;
  Conv1d c_attn_;
  Conv1d c_proj_;
  torch::nn::Dropout resid_dropout_;
};
TORCH_MODULE(Attention);

class MlpImpl : public torch::nn::Module {
 public:
  explicit MlpImpl(const Gpt2Config& config);
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor activate(const at::Tensor& x) const;

  bool fused_gelu_;
  Conv1d c_fc_;
  Conv1d c_proj_;
  torch::nn::Dropout dropout_;
};
TORCH_MODULE(Mlp);

class BlockImpl : public torch::nn::Module {
 public:
  explicit BlockImpl(const Gpt2Config& config);
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::LayerNorm ln_1_;
  Attention attn_;
  torch::nn::LayerNorm ln_2_;
  Mlp mlp_;
};
TORCH_MODULE(Block);

class TransformerImpl : public torch::nn::Module {
 public:
  explicit TransformerImpl(const Gpt2Config& config);
  at::Tensor forward(const at::Tensor& input_ids);
  at::Tensor embeddings() const { return wte_->weight; }

 private:
  torch::nn::Embedding wte_;
  torch::nn::Embedding wpe_;
  torch::nn::Dropout drop_;
  torch::nn::ModuleList h_;
  torch::nn::LayerNorm ln_f_;
};
TORCH_MODULE(Transformer);

/// The language model: a transformer whose token embeddings are its output layer too (tied).
class Gpt2Impl : public torch::nn::Module {
 public:
  /// Weights as Hugging Face initialises them, from the global generator.
  explicit Gpt2Impl(const Gpt2Config& config);

  /// `input_ids` (rows, length) int64, length at most n_positions, to logits (rows, length, vocab_size). A position
  /// attends to itself and those before it, so padding on the right changes nothing before it.
  at::Tensor forward(const at::Tensor& input_ids);

  const Gpt2Config& config() const { return config_; }

 private:
  Gpt2Config config_;
  Transformer transformer_;
};
TORCH_MODULE(Gpt2);
