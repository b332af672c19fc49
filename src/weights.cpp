#include "lope/weights.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <system_error>
#include <utility>

#include "lope/error.h"
#include "lope/safetensors.h"

namespace lope {
namespace {

constexpr std::size_t kMostNames = 10;

void add_list(std::string& text, const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNames)));
  text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", title, fmt::join(shown, ", "));
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
}

std::string list(const WeightsReport& report) {
  std::string text;
  add_list(text, "missing", report.missing);
  add_list(text, "extra", report.extra);
  add_list(text, "wrong shape", report.wrong_shapes);
  return text;
}

WeightsReport compare(const TensorMap& own, const TensorMap& weights) {
  WeightsReport report;
  for (const auto& [name, tensor] : own) {
    const auto found = weights.find(name);
    if (found == weights.end()) {
      report.missing.push_back(name);
    } else if (found->second.sizes() != tensor.sizes()) {
      report.wrong_shapes.push_back(fmt::format(
          "{}: file ({}), model ({})", name, fmt::join(found->second.sizes(), ", "), fmt::join(tensor.sizes(), ", ")));
    }
  }
  for (const auto& item : weights) {
    if (!own.contains(item.first)) report.extra.push_back(item.first);
  }
  return report;
}

/// The weights under the names that the model's state has. A tied tensor may come under any of its names; where it
/// comes under several, the state's own name counts.
TensorMap under_own_names(const TensorMap& weights, const Model& model) {
  TensorMap result = weights;
  for (const auto& [other, own] : model.tied_names()) {
    auto further = result.extract(other);
    if (further.empty()) continue;
    result.emplace(own, std::move(further.mapped()));
  }
  return result;
}

}  // namespace

WeightsReport load_weights(Model& model, const TensorMap& given, const LoadWeightsOptions& options) {
  const TensorMap own = model.state();
  const TensorMap weights = under_own_names(given, model);
  WeightsReport report = compare(own, weights);
  if (options.strict && !report.fits()) {
    throw Error(fmt::format("the weights do not fit the model: {}; load others, or set strict to false", list(report)));
  }
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : own) {
    const auto found = weights.find(name);
    if (found != weights.end() && found->second.sizes() == tensor.sizes()) at::Tensor(tensor).copy_(found->second);
  }
  return report;
}

WeightsReport load_weights(Model& model, const std::filesystem::path& path, const LoadWeightsOptions& options) {
  std::error_code ignored;  // opening says what is wrong
  const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? path / "model.safetensors" : path;
  try {
    return load_weights(model, SafetensorsFile(file.string()).tensors(), options);
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.find(file.string()) != std::string::npos) throw;
    throw Error(fmt::format("{}: {}", file.string(), text));
  }
}

}  // namespace lope
