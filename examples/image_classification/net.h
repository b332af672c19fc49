#pragma once
// A small residual net for images of 28 × 28 pixels with one channel.
//
//   ImageNet28 net(10);
//   at::Tensor logits = net->forward(pixels);         // (rows, 1, 28, 28) -> (rows, 10)

#include <torch/nn.h>

#include <cstdint>

/// A convolution of 3 × 3, a pooling by 2 if asked for, a batch norm and a ReLU. Pooling comes before the norm: that
/// gives nearly the same and leaves a quarter of the elements to compute.
class ConvBlockImpl : public torch::nn::Module {
 public:
  ConvBlockImpl(int64_t in, int64_t out, bool pool);
  at::Tensor forward(const at::Tensor& x);

 private:
  bool pool_;
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(ConvBlock);

/// 1 → 32 at 28 × 28, 32 → 64 at 14 × 14, two residual blocks of 64 at 7 × 7, a linear layer: 98,666 weights.
class ImageNet28Impl : public torch::nn::Module {
 public:
  explicit ImageNet28Impl(int64_t classes);
  at::Tensor forward(const at::Tensor& pixels);

 private:
  ConvBlock first_;
  ConvBlock second_;
  ConvBlock third_;
  ConvBlock fourth_;
  torch::nn::Linear head_;
};
TORCH_MODULE(ImageNet28);
