// Prints the logits of each example of a .jsonl, a list of lists a line.
//
//   gpt2_logits MODEL_FOLDER FILE.jsonl

#include <ATen/core/grad_mode.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "gpt2_folder.h"
#include "lope/command_line.h"
#include "lope/error.h"
#include "lope/json_lines_dataset.h"

namespace {

nlohmann::json rows(const at::Tensor& logits) {
  auto result = nlohmann::json::array();
  for (const at::Tensor& row : logits.unbind()) {
    const at::Tensor plain = row.contiguous();
    result.push_back(std::vector<float>(plain.const_data_ptr<float>(), plain.const_data_ptr<float>() + plain.numel()));
  }
  return result;
}

void print_logits(const std::string& folder, const std::string& file) {
  const at::NoGradGuard no_grad;
  Gpt2 model = load_gpt2(folder);
  model->eval();
  const Gpt2Config& config = model->config();
  const lope::JsonLinesDataset data(file, {.vocab_size = config.vocab_size, .n_positions = config.n_positions});
  for (int64_t i = 0; i < data.size(); ++i) {
    std::cout << rows(model->forward(data.get(i)["input_ids"].unsqueeze(0)).squeeze(0)).dump() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  return lope::run_main([&] {
    if (argc != 3) throw lope::Error("gpt2_logits needs a model folder and a .jsonl file");
    print_logits(argv[1], argv[2]);
  });
}
