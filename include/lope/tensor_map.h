#pragma once
// Tensors by name, in the order of their names.
//
//   lope::TensorMap weights{{"bias", at::zeros({2})}};
//   lope::save_safetensors("out/model.safetensors", weights);

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace lope {

using TensorMap = std::map<std::string, at::Tensor>;

}  // namespace lope
