#include "lope/model.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "lope/error.h"

namespace lope {

/// What differs between the two kinds of module.
struct Model::Hooks {
  std::function<std::vector<std::pair<std::string, at::Tensor>>()> parameters;
  std::function<std::vector<std::pair<std::string, at::Tensor>>()> buffers;
  /// Names of submodules that normalise.
  std::function<std::vector<std::string>()> norm_layers;
  std::function<void(at::Device)> to;
  std::function<bool()> is_training;
  std::function<void(bool)> train;
};

namespace {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool starts_as_layer(std::string_view part, std::string_view prefix) {
  if (!part.starts_with(prefix)) return false;
  const std::string_view rest = part.substr(prefix.size());
  return rest.empty() || rest.front() == '_' || std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
}

bool names_norm(std::string_view part) {
  return part.find("norm") != std::string_view::npos || starts_as_layer(part, "ln") || starts_as_layer(part, "bn");
}

/// By the name of the module's class, so that a user's own RMSNorm counts as well as the layers of torch::nn.
bool is_norm_layer(const torch::nn::Module& module) {
  const std::string& name = module.name();
  const size_t colon = name.rfind(':');
  return names_norm(lower(std::string_view(name).substr(colon == std::string::npos ? 0 : colon + 1)));
}

NamedTensors named(const torch::OrderedDict<std::string, at::Tensor>& dict) {
  NamedTensors out;
  for (const auto& item : dict) {
    if (item.value().defined()) out.emplace_back(item.key(), item.value());
  }
  return out;
}

template <typename List>
NamedTensors named_jit(const List& list) {
  NamedTensors out;
  for (const auto& item : list) out.emplace_back(item.name, item.value);
  return out;
}

}  // namespace

bool decays_by_name(const std::string& name) {
  const std::string text = lower(name);
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view part(text.data() + begin, end - begin);
    const bool last = end == text.size();
    if (names_norm(part) || (last && (part == "bias" || part.starts_with("bias_") || part.ends_with("_bias"))))
      return false;
    begin = end + 1;
  }
  return true;
}

Model::Model(std::shared_ptr<torch::nn::Module> module) {
  if (module == nullptr) throw Error("model: it is null: give a module");
  auto hooks = std::make_shared<Hooks>();
  hooks->parameters = [module] { return named(module->named_parameters()); };
  hooks->buffers = [module] { return named(module->named_buffers()); };
  hooks->norm_layers = [module] {
    std::vector<std::string> names;
    for (const auto& item : module->named_modules()) {
      if (is_norm_layer(*item.value())) names.push_back(item.key());
    }
    return names;
  };
  hooks->to = [module](at::Device device) { module->to(device); };
  hooks->is_training = [module] { return module->is_training(); };
  hooks->train = [module](bool on) { module->train(on); };
  hooks_ = std::move(hooks);
  collect();
}

Model::Model(const torch::jit::Module& script) {
  auto hooks = std::make_shared<Hooks>();
  auto module = std::make_shared<torch::jit::Module>(script);
  hooks->parameters = [module] { return named_jit(module->named_parameters()); };
  hooks->buffers = [module] { return named_jit(module->named_buffers()); };
  hooks->norm_layers = [module] {
    std::vector<std::string> names;
    for (const auto& item : module->named_modules()) {
      const auto type = item.value.type()->name();
      if (type && lower(type->name()).find("norm") != std::string::npos) names.push_back(item.name);
    }
    return names;
  };
  hooks->to = [module](at::Device device) { module->to(device); };
  hooks->is_training = [module] { return module->is_training(); };
  hooks->train = [module](bool on) { module->train(on); };
  hooks_ = std::move(hooks);
  collect();
}

void Model::collect() {
  const auto norm_layers = hooks_->norm_layers();
  const auto in_norm_layer = [&](const std::string& name) {
    const size_t dot = name.rfind('.');
    const std::string owner = dot == std::string::npos ? "" : name.substr(0, dot);
    return std::find(norm_layers.begin(), norm_layers.end(), owner) != norm_layers.end();
  };
  std::unordered_set<const void*> seen;
  for (auto& [name, tensor] : hooks_->parameters()) {
    if (!tensor.requires_grad() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    parameters_.push_back({name, tensor, decays_by_name(name) && !in_norm_layer(name)});
  }
  if (parameters_.empty())
    throw Error("model: no parameter requires a gradient: register parameters, or unfreeze some");
}

TensorMap Model::state() const {
  TensorMap state;
  std::unordered_set<const void*> seen;
  for (const auto& list : {hooks_->parameters(), hooks_->buffers()}) {
    for (const auto& [name, tensor] : list) {
      if (seen.insert(tensor.unsafeGetTensorImpl()).second) state.emplace(name, tensor.detach());
    }
  }
  return state;
}

std::map<std::string, std::string> Model::tied_names() const {
  std::map<std::string, std::string> tied;
  std::unordered_map<const void*, std::string> first;
  for (const auto& list : {hooks_->parameters(), hooks_->buffers()}) {
    for (const auto& [name, tensor] : list) {
      const auto [found, is_first] = first.emplace(tensor.unsafeGetTensorImpl(), name);
      if (!is_first) tied.emplace(name, found->second);
    }
  }
  return tied;
}

at::Device Model::device() const { return parameters_.front().tensor.device(); }

void Model::to(at::Device device) {
  hooks_->to(device);
  parameters_.clear();
  collect();
}

bool Model::is_training() const { return hooks_->is_training(); }

void Model::train(bool on) { hooks_->train(on); }

}  // namespace lope
