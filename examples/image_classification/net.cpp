#include "net.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/max_pool2d.h>

namespace nn = torch::nn;

namespace {

/// Channels last is what a CPU computes convolutions fastest in; activations follow the weights.
void use_channels_last(nn::Module& module) {
  for (at::Tensor& weight : module.parameters()) {
    if (weight.dim() != 4) continue;
    weight.set_data(
        weight.detach().to(weight.options(), /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::ChannelsLast));
  }
}

}  // namespace

ConvBlockImpl::ConvBlockImpl(int64_t in, int64_t out, bool pool)
    : pool_(pool),
      conv_(register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)))),
      norm_(register_module("norm", nn::BatchNorm2d(out))) {}

at::Tensor ConvBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor y = conv_->forward(x);
  return norm_->forward(pool_ ? at::max_pool2d(y, 2) : y).relu_();
}

ImageNet28Impl::ImageNet28Impl(int64_t classes)
    : first_(register_module("first", ConvBlock(1, 32, true))),
      second_(register_module("second", ConvBlock(32, 64, true))),
      third_(register_module("third", ConvBlock(64, 64, false))),
      fourth_(register_module("fourth", ConvBlock(64, 64, false))),
      head_(register_module("head", nn::Linear(64 * 3 * 3, classes))) {
  use_channels_last(*this);
}

at::Tensor ImageNet28Impl::forward(const at::Tensor& pixels) {
  at::Tensor x = second_->forward(first_->forward(pixels));
  x = x + third_->forward(x);
  x = x + fourth_->forward(x);
  return head_->forward(at::max_pool2d(x, 2).flatten(1));
}
