#pragma once
// Weights alone, from a file into a model.
//
//   lope::load_weights(model, "run/model.safetensors");                             // every name must fit
//   lope::WeightsReport report = lope::load_weights(model, path, {.strict = false});

#include <filesystem>
#include <string>
#include <vector>

#include "lope/model.h"
#include "lope/tensor_map.h"

namespace lope {

struct LoadWeightsOptions {
  /// Whether every name of the model must be in the file and the other way round, with the same shape.
  bool strict = true;
};

/// Names that did not fit, sorted; empty lists when all did.
struct WeightsReport {
  std::vector<std::string> missing;       ///< in the model, not in the file: left as they were
  std::vector<std::string> extra;         ///< in the file, not in the model
  std::vector<std::string> wrong_shapes;  ///< "fc.weight: file (4, 8), model (4, 4)": left as they were

  bool fits() const { return missing.empty() && extra.empty() && wrong_shapes.empty(); }
};

/// Copies tensors into the model's parameters and buffers, converting types and devices. `path` is a .safetensors file
/// or a folder with model.safetensors. A tied tensor may have any or all of its names in the file. Throws Error listing
/// what does not fit when `strict`; then nothing changes.
WeightsReport load_weights(Model& model, const std::filesystem::path& path, const LoadWeightsOptions& options = {});
WeightsReport load_weights(Model& model, const TensorMap& weights, const LoadWeightsOptions& options = {});

}  // namespace lope
