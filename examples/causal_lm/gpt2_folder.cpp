#include "gpt2_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "lope/error.h"
#include "lope/safetensors.h"

namespace {

using nlohmann::json;

const std::string kPrefix = "transformer.";

std::string in_folder(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw lope::Error(fmt::format("cannot read {}: a GPT-2 folder needs this file", path));
  json config = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) throw lope::Error(fmt::format("{} is not a JSON object", path));
  return config;
}

bool has(const json& config, const char* name) { return config.contains(name) && !config[name].is_null(); }

/// Replaces `value` by the field when there is one.
template <typename T>
void read(const json& config, const char* name, T& value) {
  if (!has(config, name)) return;
  const json& field = config[name];
  const bool fits = std::is_floating_point_v<T> ? field.is_number() : field.is_number_integer();
  if (!fits) throw lope::Error(fmt::format("{} is {}: it must be a number", name, field.dump()));
  value = field.get<T>();
}

/// For fields that select a kind of model that is not built here.
void require(const json& config, const char* name, const std::set<json>& allowed) {
  const auto field = config.find(name);
  if (field == config.end() || allowed.contains(*field)) return;
  throw lope::Error(fmt::format("{} is {}: this program has only {}", name, field->dump(), json(allowed).dump()));
}

void check_kind(const json& config) {
  require(config, "model_type", {"gpt2"});
  require(config, "activation_function", {"gelu_new", "gelu_pytorch_tanh"});
  require(config, "tie_word_embeddings", {true});
  require(config, "scale_attn_weights", {true});
  require(config, "scale_attn_by_inverse_layer_idx", {false});
  require(config, "add_cross_attention", {false});
}

Gpt2Config parse_config(const json& fields) {
  check_kind(fields);
  Gpt2Config config;
  if (has(fields, "activation_function")) config.activation_function = fields["activation_function"];
  read(fields, "n_layer", config.n_layer);
  read(fields, "n_head", config.n_head);
  read(fields, "n_embd", config.n_embd);
  read(fields, "n_positions", config.n_positions);
  read(fields, "vocab_size", config.vocab_size);
  if (has(fields, "n_inner")) read(fields, "n_inner", config.n_inner.emplace());
  read(fields, "resid_pdrop", config.resid_pdrop);
  read(fields, "embd_pdrop", config.embd_pdrop);
  read(fields, "attn_pdrop", config.attn_pdrop);
  read(fields, "layer_norm_epsilon", config.layer_norm_epsilon);
  read(fields, "initializer_range", config.initializer_range);
  check(config);
  return config;
}

Gpt2Config read_config(const std::string& path) {
  const json fields = read_json(path);
  try {
    return parse_config(fields);
  } catch (const lope::Error& error) {
    throw lope::Error(fmt::format("{}: {}", path, error.what()));
  }
}

json to_json(const Gpt2Config& config) {
  return {
      {"architectures", json::array({"GPT2LMHeadModel"})},
      {"model_type", "gpt2"},
      {"activation_function", config.activation_function},
      {"n_layer", config.n_layer},
      {"n_head", config.n_head},
      {"n_embd", config.n_embd},
      {"n_inner", config.n_inner ? json(*config.n_inner) : json()},
      {"n_positions", config.n_positions},
      {"vocab_size", config.vocab_size},
      {"resid_pdrop", config.resid_pdrop},
      {"embd_pdrop", config.embd_pdrop},
      {"attn_pdrop", config.attn_pdrop},
      {"layer_norm_epsilon", config.layer_norm_epsilon},
      {"initializer_range", config.initializer_range},
      {"tie_word_embeddings", true},
      {"dtype", "float32"},
  };
}

/// Where there is no source: no token has a special meaning.
json other_fields(const std::string& source) {
  if (source.empty()) return {{"bos_token_id", nullptr}, {"eos_token_id", nullptr}};
  return read_json(in_folder(source, "config.json"));
}

/// Name of a parameter in the file: with the prefix or without.
std::string name_in(const lope::SafetensorsFile& file, const std::string& name) {
  return file.contains(name) ? name : name.substr(kPrefix.size());
}

at::Tensor read_weight(const lope::SafetensorsFile& file, const std::string& name, const at::Tensor& parameter) {
  at::Tensor value = file.tensor(name_in(file, name));
  if (value.sizes() == parameter.sizes()) return value;
  throw lope::Error(fmt::format("{}: {} has shape {}, but config.json asks for {}", file.path(), name_in(file, name),
                                json(value.sizes().vec()).dump(), json(parameter.sizes().vec()).dump()));
}

/// Old files hold the causal masks too, and some the output layer, which is the same as wte.
bool is_redundant(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") || name == "lm_head.weight";
}

void check_no_others(const lope::SafetensorsFile& file, const std::set<std::string>& used) {
  for (const lope::SafetensorsEntry& entry : file.entries()) {
    if (used.contains(entry.name) || is_redundant(entry.name)) continue;
    throw lope::Error(fmt::format("{} has a tensor {} that this model has not", file.path(), entry.name));
  }
}

void read_weights(const std::string& path, Gpt2& model) {
  const torch::NoGradGuard no_grad;
  const lope::SafetensorsFile file(path);
  std::set<std::string> used;
  for (auto& parameter : model->named_parameters()) {
    parameter.value().copy_(read_weight(file, parameter.key(), parameter.value()));
    used.insert(name_in(file, parameter.key()));
  }
  check_no_others(file, used);
}

}  // namespace

Gpt2 load_gpt2(const std::string& folder) {
  Gpt2 model(read_config(in_folder(folder, "config.json")));
  read_weights(in_folder(folder, "model.safetensors"), model);
  return model;
}

std::string gpt2_config_text(const Gpt2Config& config, const std::string& source) {
  json fields = other_fields(source);
  fields.update(to_json(config));
  return fields.dump(2) + "\n";
}
