#include "lope/torch_optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <c10/util/Type.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <typeinfo>

#include "device_sum.h"
#include "lope/error.h"
#include "lope/gradients.h"

namespace lope {
namespace {

constexpr const char* kArchive = "torch_optimizer.archive";
constexpr const char* kLayout = "torch_optimizer.layout";

std::string kind_of(const torch::optim::Optimizer& optimizer) { return c10::demangle(typeid(optimizer).name()); }

const torch::optim::Optimizer& checked(const std::shared_ptr<torch::optim::Optimizer>& optimizer) {
  if (optimizer == nullptr) throw Error("torch optimizer: it is null: give an optimizer");
  if (dynamic_cast<const torch::optim::LBFGS*>(optimizer.get()) != nullptr) {
    throw Error("torch optimizer: LBFGS needs a closure that computes the loss again: use an optimizer that does not");
  }
  return *optimizer;
}

const Parameter& named(const at::Tensor& tensor, const Model& model) {
  for (const auto& parameter : model.parameters()) {
    if (parameter.tensor.is_same(tensor)) return parameter;
  }
  throw Error(
      fmt::format("torch optimizer: a parameter of shape ({}) is not one of the model's: make the optimizer from the "
                  "model's parameters, after they were moved to their device",
                  fmt::join(tensor.sizes(), ", ")));
}

std::vector<double> rate_factors(const torch::optim::Optimizer& optimizer) {
  std::vector<double> factors;
  for (const auto& group : optimizer.param_groups()) {
    const double first = optimizer.param_groups().front().options().get_lr();
    const double own = group.options().get_lr();
    if (first == 0.0 && own != 0.0) {
      throw Error(
          fmt::format("torch optimizer: the first group's learning rate is 0 and another's {}: make the first one "
                      "above 0, so that their ratio is known",
                      own));
    }
    factors.push_back(own == first ? 1.0 : own / first);
  }
  return factors;
}

std::vector<ParameterGroup> named_groups(const torch::optim::Optimizer& optimizer, const Model& model) {
  const auto factors = rate_factors(optimizer);
  std::vector<ParameterGroup> groups;
  for (const auto& group : optimizer.param_groups()) {
    ParameterGroup& named_group =
        groups.emplace_back(ParameterGroup{.parameters = {}, .lr_scale = factors[groups.size()]});
    for (const auto& tensor : group.params()) named_group.parameters.push_back(named(tensor, model));
  }
  return groups;
}

/// Rate and skip, both from the device in one read.
std::pair<double, bool> on_host(const Update& update) {
  const bool host_rate = update.learning_rate.on_host();
  if (host_rate && !update.skip.defined()) return {update.learning_rate.value(), false};
  if (host_rate) return {update.learning_rate.value(), cpu_value(update.skip.cpu()) != 0.0};
  const at::Tensor rate = update.learning_rate.tensor().reshape({});
  if (!update.skip.defined()) return {cpu_value(rate.cpu()), false};
  const at::Tensor both = at::stack({rate, update.skip.reshape({})}).cpu();
  return {both.const_data_ptr<float>()[0], both.const_data_ptr<float>()[1] != 0.0F};
}

at::Tensor to_tensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::TensorOptions(at::kByte));
  std::copy(bytes.begin(), bytes.end(), tensor.mutable_data_ptr<uint8_t>());
  return tensor;
}

std::string to_bytes(const TensorMap& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end() || found->second.scalar_type() != at::kByte || found->second.dim() != 1 ||
      state.size() != 2) {
    throw Error(
        fmt::format("optimizer state: it must be \"{}\" and \"{}\", of bytes, and nothing else: the state belongs to "
                    "another optimizer",
                    kArchive, kLayout));
  }
  const at::Tensor bytes = found->second.cpu().contiguous();
  const auto* data = bytes.const_data_ptr<uint8_t>();
  return {data, data + bytes.numel()};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string line_of(size_t group, const Parameter& parameter) {
  return fmt::format("\"{}\", {} ({}) in group {}", parameter.name, c10::toString(parameter.tensor.scalar_type()),
                     fmt::join(parameter.tensor.sizes(), ", "), group);
}

/// The same lines in any order, but for the first.
void check_layout(std::vector<std::string> saved, std::vector<std::string> own) {
  if (saved.empty() || saved.front() != own.front()) {
    throw Error(fmt::format("optimizer state: it is of {}, expected {}: use the optimizer that it was saved from",
                            saved.empty() ? "nothing" : saved.front(), own.front()));
  }
  std::sort(saved.begin() + 1, saved.end());
  std::sort(own.begin() + 1, own.end());
  for (size_t i = 1; i < std::max(saved.size(), own.size()); ++i) {
    const std::string has = i < saved.size() ? saved[i] : "no further parameter";
    const std::string needs = i < own.size() ? own[i] : "no further parameter";
    if (has == needs) continue;
    throw Error(fmt::format("optimizer state: it has {}, expected {}: the state belongs to another optimizer or model",
                            has, needs));
  }
}

}  // namespace

TorchOptimizer::TorchOptimizer(std::shared_ptr<torch::optim::Optimizer> optimizer, const Model& model)
    : Optimizer(named_groups(checked(optimizer), model)),
      optimizer_(std::move(optimizer)),
      model_(model),
      rate_factors_(rate_factors(*optimizer_)) {}

TorchOptimizer::~TorchOptimizer() = default;

void TorchOptimizer::step(const Update& update) {
  const auto [rate, skip] = on_host(update);
  if (skip) return;
  auto& groups = optimizer_->param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].options().set_lr(rate * rate_factors_[i]);
  }
  if (update.grad_scale.defined()) {
    const at::NoGradGuard no_grad;
    for (const auto& group : groups_) {
      const auto found = gradients(group.parameters);
      if (!found.empty()) at::_foreach_mul_(found, update.grad_scale.reshape({}).reciprocal());
    }
  }
  optimizer_->step();
}

void TorchOptimizer::reset() { optimizer_->state().clear(); }

TensorMap TorchOptimizer::state() const {
  return {{kArchive, to_tensor(archive())}, {kLayout, to_tensor(fmt::format("{}\n", fmt::join(layout(), "\n")))}};
}

void TorchOptimizer::load_state(const TensorMap& state) {
  const std::string bytes = to_bytes(state, kArchive);
  const auto saved = split(to_bytes(state, kLayout));
  const auto own = layout();
  check_layout(saved, own);
  const std::string before = archive();
  try {
    reorder(saved);
    read_archive(bytes);
  } catch (const std::exception& error) {
    reorder(own);
    read_archive(before);
    throw Error(fmt::format("optimizer state: \"{}\" cannot be read: {}", kArchive, first_line(error.what())));
  }
  reorder(own);
}

std::vector<std::string> TorchOptimizer::layout() const {
  std::vector<std::string> lines{kind_of(*optimizer_)};
  const auto& groups = optimizer_->param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const auto& tensor : groups[i].params()) lines.push_back(line_of(i, named(tensor, model_)));
  }
  return lines;
}

std::string TorchOptimizer::archive() const {
  torch::serialize::OutputArchive archive;
  optimizer_->save(archive);
  std::ostringstream stream;
  archive.save_to(stream);
  return std::move(stream).str();
}

void TorchOptimizer::read_archive(const std::string& bytes) {
  std::vector<std::unique_ptr<torch::optim::OptimizerOptions>> settings;
  for (const auto& group : optimizer_->param_groups()) settings.push_back(group.options().clone());
  torch::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size(), groups_.front().parameters.front().tensor.device());
  // LibTorch keeps the state of parameters that the archive says nothing of.
  optimizer_->state().clear();
  optimizer_->load(archive);
  for (size_t i = 0; i < settings.size(); ++i) optimizer_->param_groups()[i].set_options(std::move(settings[i]));
}

void TorchOptimizer::reorder(const std::vector<std::string>& lines) {
  auto& groups = optimizer_->param_groups();
  std::map<std::string, std::pair<size_t, at::Tensor>> places;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const auto& tensor : groups[i].params()) places[line_of(i, named(tensor, model_))] = {i, tensor};
    groups[i].params().clear();
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto& [group, tensor] = places.at(lines[i]);
    groups[group].params().push_back(tensor);
  }
}

}  // namespace lope
