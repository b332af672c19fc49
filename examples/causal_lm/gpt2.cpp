#include "gpt2.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "lope/error.h"

namespace {

namespace nn = torch::nn;

/// Standard deviation of the layers that write to the residual stream: there are two in each block.
double residual_deviation(const Gpt2Config& config) {
  return config.initializer_range / std::sqrt(2.0 * static_cast<double>(config.n_layer));
}

nn::LayerNorm layer_norm(const Gpt2Config& config) {
  return nn::LayerNorm(nn::LayerNormOptions({config.n_embd}).eps(config.layer_norm_epsilon));
}

nn::Embedding embedding(int64_t rows, const Gpt2Config& config) {
  return nn::Embedding(
      nn::EmbeddingOptions(rows, config.n_embd)._weight(at::randn({rows, config.n_embd}) * config.initializer_range));
}

/// Operation for operation as transformers has it, so that training gives Python's numbers to the bit.
at::Tensor gelu_new(const at::Tensor& x) {
  const at::Tensor half = 0.5 * x;
  const at::Tensor cube = 0.044715 * x.pow(3.0);
  return half * (1.0 + at::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + cube)));
}

void check_positive(const char* name, int64_t value) {
  if (value < 1) throw lope::Error(fmt::format("{} is {}: it must be 1 or more", name, value));
}

void check_probability(const char* name, double value) {
  if (!(value >= 0 && value < 1)) throw lope::Error(fmt::format("{} is {}: it must be in [0, 1)", name, value));
}

}  // namespace

void check(const Gpt2Config& config) {
  check_positive("n_layer", config.n_layer);
  check_positive("n_head", config.n_head);
  check_positive("n_embd", config.n_embd);
  check_positive("n_positions", config.n_positions);
  check_positive("vocab_size", config.vocab_size);
  check_positive("n_inner", config.n_inner.value_or(1));
  check_probability("resid_pdrop", config.resid_pdrop);
  check_probability("embd_pdrop", config.embd_pdrop);
  check_probability("attn_pdrop", config.attn_pdrop);
  if (config.n_embd % config.n_head == 0) return;
  throw lope::Error(
      fmt::format("n_embd is {}: it must be a multiple of n_head, which is {}", config.n_embd, config.n_head));
}

Conv1dImpl::Conv1dImpl(int64_t in, int64_t out, double deviation)
    : weight_(register_parameter("weight", at::randn({in, out}) * deviation)),
      bias_(register_parameter("bias", at::zeros({out}))) {}

at::Tensor Conv1dImpl::forward(const at::Tensor& x) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight_.size(1);
  return at::addmm(bias_, x.reshape({-1, weight_.size(0)}), weight_).view(shape);
}

AttentionImpl::AttentionImpl(const Gpt2Config& config)
    : heads_(config.n_head),
      dropout_(config.attn_pdrop),
      c_attn_(register_module("c_attn", Conv1d(config.n_embd, 3 * config.n_embd, config.initializer_range))),
      c_proj_(register_module("c_proj", Conv1d(config.n_embd, config.n_embd, residual_deviation(config)))),
      resid_dropout_(register_module("resid_dropout", nn::Dropout(config.resid_pdrop))) {}

at::Tensor AttentionImpl::split_heads(const at::Tensor& x) const {
  return x.view({x.size(0), x.size(1), heads_, x.size(2) / heads_}).transpose(1, 2);
}

at::Tensor AttentionImpl::forward(const at::Tensor& x) {
  const auto qkv = c_attn_->forward(x).chunk(3, -1);
  const at::Tensor mixed =
      at::scaled_dot_product_attention(split_heads(qkv[0]), split_heads(qkv[1]), split_heads(qkv[2]), {},
                                       is_training() ? dropout_ : 0.0, /*is_causal=*/true);
  return resid_dropout_->forward(c_proj_->forward(mixed.transpose(1, 2).reshape_as(x)));
}

MlpImpl::MlpImpl(const Gpt2Config& config)
    : fused_gelu_(config.activation_function != "gelu_new"),
      c_fc_(nullptr),
      c_proj_(nullptr),
      dropout_(register_module("dropout", nn::Dropout(config.resid_pdrop))) {
  const int64_t inner = config.n_inner.value_or(4 * config.n_embd);
  c_fc_ = register_module("c_fc", Conv1d(config.n_embd, inner, config.initializer_range));
  c_proj_ = register_module("c_proj", Conv1d(inner, config.n_embd, residual_deviation(config)));
}

at::Tensor MlpImpl::forward(const at::Tensor& x) {
  return dropout_->forward(c_proj_->forward(activate(c_fc_->forward(x))));
}

at::Tensor MlpImpl::activate(const at::Tensor& x) const { return fused_gelu_ ? at::gelu(x, "tanh") : gelu_new(x); }

BlockImpl::BlockImpl(const Gpt2Config& config)
    : ln_1_(register_module("ln_1", layer_norm(config))),
      attn_(register_module("attn", Attention(config))),
      ln_2_(register_module("ln_2", layer_norm(config))),
      mlp_(register_module("mlp", Mlp(config))) {}

at::Tensor BlockImpl::forward(const at::Tensor& x) {
  const at::Tensor attended = x + attn_->forward(ln_1_->forward(x));
  return attended + mlp_->forward(ln_2_->forward(attended));
}

TransformerImpl::TransformerImpl(const Gpt2Config& config)
    : wte_(register_module("wte", embedding(config.vocab_size, config))),
      wpe_(register_module("wpe", embedding(config.n_positions, config))),
      drop_(register_module("drop", nn::Dropout(config.embd_pdrop))),
      h_(register_module("h", nn::ModuleList())),
      ln_f_(register_module("ln_f", layer_norm(config))) {
  for (int64_t i = 0; i < config.n_layer; ++i) h_->push_back(Block(config));
}

at::Tensor TransformerImpl::forward(const at::Tensor& input_ids) {
  const at::Tensor positions = at::arange(input_ids.size(1), input_ids.options());
  at::Tensor x = drop_->forward(wte_->forward(input_ids) + wpe_->forward(positions));
  for (const auto& block : *h_) x = block->as<Block>()->forward(x);
  return ln_f_->forward(x);
}

Gpt2Impl::Gpt2Impl(const Gpt2Config& config)
    : config_((check(config), config)), transformer_(register_module("transformer", Transformer(config))) {}

at::Tensor Gpt2Impl::forward(const at::Tensor& input_ids) {
  return at::linear(transformer_->forward(input_ids), transformer_->embeddings());
}
