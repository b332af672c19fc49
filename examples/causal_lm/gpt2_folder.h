#pragma once
// A GPT-2 model in a folder as Hugging Face's from_pretrained and save_pretrained have it: config.json and
// model.safetensors.
//
//   Gpt2 model = load_gpt2("gpt2");
//   options.model_files = {{"config.json", gpt2_config_text(model->config())}};     // beside model.safetensors

#include <string>

#include "gpt2.h"

/// Throws lope::Error naming the file and the field or tensor: what is missing, of another shape, or asks for a kind of
/// GPT-2 that this program does not have. Names may come with or without the prefix "transformer.".
Gpt2 load_gpt2(const std::string& folder);

/// What config.json holds. Fields of `source`'s config.json that say nothing to this program, such as the ids of
/// special tokens, are kept.
std::string gpt2_config_text(const Gpt2Config& config, const std::string& source = "");
