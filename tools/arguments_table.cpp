// Prints the README's table of TrainingArguments, in Markdown.

#include <iostream>
#include <string>

#include "lope/training_arguments.h"

namespace {

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string shown_default(const std::string& value) { return value == "null" ? "not set" : "`" + value + "`"; }

}  // namespace

int main() {
  std::cout << "| field | default | what it may be | meaning |\n|---|---|---|---|\n";
  std::string group;
  for (const lope::ArgumentDescription& argument : lope::TrainingArguments::describe()) {
    if (argument.group != group) std::cout << "| **" << argument.group << "** | | | |\n";
    group = argument.group;
    std::cout << "| `" << argument.name << "` | " << shown_default(argument.default_value) << " | "
              << cell(argument.allowed) << " | " << cell(argument.help) << " |\n";
  }
}
