#include "lope/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <utility>

#include "argument_value.h"
#include "command_line_help.h"
#include "lope/error.h"
#include "lope/training_arguments.h"
#include "nearest_name.h"
#include "python_only_arguments.h"
#include "training_arguments_fields.h"

namespace lope {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr const char* kOwnGroup = "Program";
constexpr const char* kFileFlag = "args_file";

// How one flag is shown, and what it does with its text.
struct FlagSpec {
  std::string name;
  std::string group;
  std::string type = "";
  std::string description = "";
  bool is_switch = false;     // may stand alone
  bool has_negation = false;  // --no_name
  bool required = false;
  std::function<void(std::string_view label, std::string_view text)> set = nullptr;
};

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string option_names(const std::string& name) {
  const std::string dashed = with_dashes(name);
  return dashed == name ? "--" + name : "--" + name + ",--" + dashed;
}

// As JSON, but for the quotes.
std::string default_text(const std::string& value) { return value.empty() ? "null" : value; }
std::string default_text(std::int64_t value) { return std::to_string(value); }
std::string default_text(double value) { return number_text(value); }
std::string default_text(bool value) { return value ? "true" : "false"; }

// What the program's own option allows; owns the names that Allowed only points to.
struct OwnRules {
  explicit OwnRules(OptionRules given) : rules(std::move(given)), names(rules.one_of.begin(), rules.one_of.end()) {}

  Allowed allowed() const {
    Allowed result = one_of(names);
    if (rules.at_least) result.min = *rules.at_least;
    return result;
  }

  OptionRules rules;
  std::vector<std::string_view> names;
};

template <typename T>
FlagSpec own_flag(std::string_view name, T& value, std::string_view help, OptionRules rules) {
  const auto own = std::make_shared<const OwnRules>(std::move(rules));
  const std::string allowed = allowed_text(&value, own->allowed());
  const std::string default_value = default_text(value);
  FlagSpec flag{.name = std::string(name), .group = kOwnGroup, .type = std::string(type_word(&value))};
  flag.description = option_description(help, own->names.empty() ? "" : allowed, default_value);
  flag.required = own->rules.required;
  flag.set = [&value, own, allowed, default_value](std::string_view label, std::string_view text) {
    T read{};
    const bool right = read_text(text, read) && is_allowed(read, own->allowed());
    if (!right) throw Error(wrong_value_text(label, text, allowed, default_value, own->names));
    value = std::move(read);
  };
  return flag;
}

FlagSpec field_flag(const Field& field, std::string_view group, TrainingArguments& arguments) {
  FlagSpec flag{.name = std::string(field.name), .group = std::string(group)};
  const bool has_names = !field.allowed.names.empty() || !field.allowed.text.empty();
  const std::string default_value = value_text(field, arguments);
  flag.type = visit_field(field, arguments, [](const auto& value) { return type_word(&value); });
  flag.description = option_description(field.help, has_names ? allowed_text(field) : "", default_value);
  flag.is_switch = allowed_text(field) == "true or false";
  flag.has_negation = default_value == "true";
  flag.set = [&field, &arguments](std::string_view label, std::string_view text) {
    set_field(field, label, text, arguments);
  };
  return flag;
}

int fail(std::string_view reason, int code) {
  std::cerr << "error: " << reason << '\n';
  return code;
}

}  // namespace

// The flags as CLI11 knows them, beside what each does.
struct CommandLine::Flags {
  struct Entry {
    FlagSpec spec;
    CLI::Option* option;
    CLI::Option* negation;
  };

  Flags(std::string program, std::string description) : app(std::move(description), std::move(program)) {
    app.formatter(std::make_shared<HelpFormatter>());
    app.set_help_flag();
    help_option = app.add_flag("--help,-h")->description("Print this text and exit.")->group(kOwnGroup);
    app.allow_extras();
  }

  void add(FlagSpec spec) {
    CLI::Option* const option = add_option(spec);
    CLI::Option* const negation = spec.has_negation ? app.add_flag(option_names("no_" + spec.name)) : nullptr;
    if (negation != nullptr) negation->group("")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    entries.push_back({std::move(spec), option, negation});
  }

  CLI::Option* add_option(const FlagSpec& spec) {
    const auto accept = [](const CLI::results_t&) { return true; };
    CLI::Option* const option = app.add_option(option_names(spec.name), accept, spec.description);
    option->group(spec.group)->type_name(spec.type)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (spec.is_switch) option->expected(0, 1);
    return option;
  }

  const Entry* find(std::string_view name) const {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.spec.name == name; });
    return found == entries.end() ? nullptr : &*found;
  }

  void read(std::vector<std::string> flags) {
    std::reverse(flags.begin(), flags.end());  // CLI11 takes the last first
    try {
      app.parse(std::move(flags));
    } catch (const CLI::ParseError& error) {
      throw Error(first_line(error.what()) + "; --help lists the flags");
    }
    if (const std::vector<std::string> rest = app.remaining(); !rest.empty()) refuse(rest.front());
  }

  [[noreturn]] void refuse(const std::string& word) const {
    if (!word.starts_with('-')) throw Error(word + ": not the value of a flag; write --name value, --help lists them");
    const std::string flag = word.substr(0, word.find('='));
    const std::string name = with_underscores(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
    if (find_python_only_argument(name) != nullptr) {
      throw Error(flag + ": this argument of the Python Trainer is not supported; remove it");
    }
    const std::string_view advice = advice_for_old_name(name);
    throw Error(flag + ": unknown flag" + (advice.empty() ? nearest_flag(name) : "; " + std::string(advice)));
  }

  std::string nearest_flag(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const Entry& entry : entries) {
      names.push_back(entry.option->get_lnames().front());
      if (entry.negation != nullptr) names.push_back(entry.negation->get_lnames().front());
    }
    return did_you_mean(name, names, "--");
  }

  static void set(const Entry& entry) {
    const std::string label = "--" + entry.spec.name;
    if (entry.option->count() > 0) {
      const std::string text = entry.option->as<std::string>();
      entry.spec.set(label, text.empty() && entry.spec.is_switch ? "true" : text);
    }
    if (entry.negation != nullptr && entry.negation->count() > 0) entry.spec.set(label, "false");
    if (entry.spec.required && entry.option->count() == 0) throw Error(label + " is missing: it must be given");
  }

  CLI::App app;
  CLI::Option* help_option;
  std::vector<Entry> entries;
};

CommandLine::CommandLine(std::string program, std::string description)
    : flags_(std::make_unique<Flags>(std::move(program), std::move(description))) {}
CommandLine::~CommandLine() = default;
CommandLine::CommandLine(CommandLine&&) noexcept = default;
CommandLine& CommandLine::operator=(CommandLine&&) noexcept = default;

CommandLine& CommandLine::add(std::string_view name, std::string& value, std::string_view help, OptionRules rules) {
  flags_->add(own_flag(name, value, help, std::move(rules)));
  return *this;
}

CommandLine& CommandLine::add(std::string_view name, std::int64_t& value, std::string_view help, OptionRules rules) {
  flags_->add(own_flag(name, value, help, std::move(rules)));
  return *this;
}

CommandLine& CommandLine::add(std::string_view name, double& value, std::string_view help, OptionRules rules) {
  flags_->add(own_flag(name, value, help, std::move(rules)));
  return *this;
}

CommandLine& CommandLine::add(std::string_view name, bool& value, std::string_view help, OptionRules rules) {
  FlagSpec flag = own_flag(name, value, help, std::move(rules));
  flag.is_switch = true;
  flag.has_negation = value;
  flags_->add(std::move(flag));
  return *this;
}

CommandLine& CommandLine::add(TrainingArguments& arguments) {
  FlagSpec file{.name = kFileFlag, .group = kOwnGroup, .type = "FILE"};
  file.description = option_description("JSON file of training arguments; flags win over it.", "", "null");
  file.set = [&arguments](std::string_view, std::string_view path) { arguments.merge_json_file(path); };
  flags_->add(std::move(file));
  for (const FieldGroup& group : training_arguments_groups()) {
    for (const Field& field : group.fields) flags_->add(field_flag(field, group.heading, arguments));
  }
  return *this;
}

void CommandLine::parse(const std::vector<std::string>& flags) {
  flags_->read(flags);
  if (help_requested()) return;
  for (const Flags::Entry& entry : flags_->entries) Flags::set(entry);
}

bool CommandLine::help_requested() const { return flags_->help_option->count() > 0; }

bool CommandLine::given(std::string_view name) const {
  const Flags::Entry* const entry = flags_->find(name);
  return entry != nullptr &&
         (entry->option->count() > 0 || (entry->negation != nullptr && entry->negation->count() > 0));
}

std::string CommandLine::help() const { return flags_->app.help(); }

int CommandLine::run(int argc, const char* const* argv, const std::function<void()>& body) {
  try {
    parse({argv + std::min(argc, 1), argv + argc});
  } catch (const std::exception& error) {
    return fail(first_line(error.what()), kWrongUsage);
  }
  if (!help_requested()) return run_main(body);
  std::cout << help();
  return 0;
}

int run_main(const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    return fail(first_line(error.what()), kFailed);
  } catch (...) {
    return fail("an exception of unknown type", kFailed);
  }
}

}  // namespace lope
