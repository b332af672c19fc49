#pragma once
// A GPT-2 model in a folder as Hugging Face's from_pretrained and save_pretrained have it: config.json and
// model.safetensors.
//
//   Gpt2 model = load_gpt2("gpt2");
//   save_gpt2_config("out", model->config());      // the Trainer writes out/model.safetensors

#include <string>

#include "gpt2.h"

/// Throws lope::Error naming the file and the field or tensor: what is missing, of another shape, or asks for a kind of
/// GPT-2 that this program does not have. Names may come with or without the prefix "transformer.".
Gpt2 load_gpt2(const std::string& folder);

/// Writes config.json. Fields of `source`'s config.json that say nothing to this program, such as the ids of special
/// tokens, are kept.
void save_gpt2_config(const std::string& folder, const Gpt2Config& config, const std::string& source = "");
