#pragma once
// Sampling of text from a byte-level model.
//
//   std::string text = generate(model, {.length = 400, .prompt = "In the beginning"});

#include <cstdint>
#include <string>

#include "gpt2.h"

struct GenerateOptions {
  int64_t length = 0;         ///< bytes to add to the prompt
  std::string prompt = "\n";  ///< at least one byte; it is part of the result
  double temperature = 0.8;   ///< below 1 is more predictable; 0 takes the likeliest byte
  int64_t top_k = 40;         ///< draw from this many likeliest bytes; 0 for all
};

/// Draws from the global generator. Throws lope::Error when the model's tokens are not bytes, or an option is out of
/// range.
std::string generate(Gpt2& model, const GenerateOptions& options);
