#include "generate.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lope/error.h"

namespace {

constexpr int64_t kBytes = 256;

void check(const Gpt2Config& config, const GenerateOptions& options) {
  if (config.vocab_size != kBytes) {
    throw lope::Error(fmt::format("this model has {} tokens: only one whose tokens are the 256 bytes can generate text",
                                  config.vocab_size));
  }
  if (options.prompt.empty()) throw lope::Error("prompt is empty: give at least one character");
}

/// The end of the text. It leaves the last position free: no example is long enough to train what that one predicts.
at::Tensor input_ids(const std::string& text, const Gpt2& model) {
  const auto longest = static_cast<size_t>(std::max<int64_t>(model->config().n_positions - 1, 1));
  const std::string recent = text.substr(text.size() - std::min(text.size(), longest));
  const std::vector<int64_t> bytes(recent.begin(), recent.end());
  const auto device = model->parameters().front().device();
  return at::tensor(bytes, at::kLong).bitwise_and(0xff).unsqueeze(0).to(device);
}

/// `logits` (vocab_size) to one token.
int64_t draw(const at::Tensor& logits, const GenerateOptions& options) {
  if (options.temperature == 0) return logits.argmax().item<int64_t>();
  const int64_t kept = options.top_k == 0 ? logits.numel() : std::min(options.top_k, logits.numel());
  const auto [values, tokens] = logits.topk(kept);
  return tokens[(values / options.temperature).softmax(0).multinomial(1).item<int64_t>()].item<int64_t>();
}

}  // namespace

std::string generate(Gpt2& model, const GenerateOptions& options) {
  check(model->config(), options);
  const at::NoGradGuard no_grad;
  model->eval();
  std::string text = options.prompt;
  for (int64_t i = 0; i < options.length; ++i) {
    const at::Tensor logits = model->forward(input_ids(text, model)).select(1, -1).squeeze(0);
    text.push_back(static_cast<char>(draw(logits, options)));
  }
  return text;
}
