// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <type_traits>

#include "core/base/printable.h"

namespace asr::tool {

Option Option::required() { return Option(option_->required()); }
Option Option::shows_default() { return Option(option_->capture_default_str()); }
Option Option::range(int lowest, int highest) { return Option(option_->check(CLI::Range(lowest, highest))); }
Option Option::range(uint32_t lowest, uint32_t highest) { return Option(option_->check(CLI::Range(lowest, highest))); }
Option Option::range(double lowest, double highest) { return Option(option_->check(CLI::Range(lowest, highest))); }
Option Option::one_of(const std::vector<std::string> &values) { return Option(option_->check(CLI::IsMember(values))); }
Option Option::one_of(const std::vector<uint32_t> &values) { return Option(option_->check(CLI::IsMember(values))); }
Option Option::separated_by(char delimiter) { return Option(option_->delimiter(delimiter)); }
Option Option::takes(int n_values) { return Option(option_->expected(n_values)); }
Option Option::one_each_time() { return Option(option_->allow_extra_args(false)); }

Option Option::may_lack_value() {
  option_->expected(0, 1);
  return *this;
}
Option Option::needs(const std::string &other) { return Option(option_->needs(other)); }
Option Option::excludes(const std::string &other) { return Option(option_->excludes(other)); }

Command Command::command(const std::string &name, const std::string &what) { return Command(app_->add_subcommand(name, what)); }

void Command::requires_command() { app_->require_subcommand(1); }

bool Command::got_command() const { return !app_->get_subcommands().empty(); }

Command Command::at_most_one(const std::string &name) {
  CLI::App *group = app_->add_option_group(name, "one of");
  group->require_option(0, 1);
  return Command(group);
}

namespace {

template <class Value>
constexpr bool kIsText = std::is_same_v<Value, std::string> || std::is_same_v<Value, std::vector<std::string>>;

template <class Value>
constexpr bool kIsReal = std::is_floating_point_v<Value> || std::is_same_v<Value, std::optional<float>> ||
                         std::is_same_v<Value, std::optional<double>>;

// Range checks accept NaN.
std::string refuse_nan(const std::string &text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is not a number" : "";
}

// An empty text would count as if the option were not given. CLI11 does not check a value that may_lack_value() lacks.
std::string refuse_empty(const std::string &text) {
  return text.empty() ? "the text is empty; give one, or leave this out" : "";
}

}  // namespace

template <class Value>
Option Command::option(const std::string &name, Value &value, const std::string &what) {
  CLI::Option *const option = app_->add_option(name, value, what);
  if (kIsReal<Value>) option->check(refuse_nan);
  if (kIsText<Value>) option->check(refuse_empty);
  return Option(option);
}

template Option Command::option(const std::string &, int32_t &, const std::string &);
template Option Command::option(const std::string &, uint32_t &, const std::string &);
template Option Command::option(const std::string &, uint64_t &, const std::string &);
template Option Command::option(const std::string &, float &, const std::string &);
template Option Command::option(const std::string &, double &, const std::string &);
template Option Command::option(const std::string &, std::string &, const std::string &);
template Option Command::option(const std::string &, std::optional<bool> &, const std::string &);
template Option Command::option(const std::string &, std::optional<uint32_t> &, const std::string &);
template Option Command::option(const std::string &, std::optional<double> &, const std::string &);
template Option Command::option(const std::string &, std::vector<int32_t> &, const std::string &);
template Option Command::option(const std::string &, std::vector<uint32_t> &, const std::string &);
template Option Command::option(const std::string &, std::vector<std::string> &, const std::string &);

Option Command::flag(const std::string &name, bool &value, const std::string &what) {
  return Option(app_->add_flag(name, value, what));
}

void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

namespace {

// Returns the argument where a subcommand is expected but none has that name; NULL if all are known.
const char *unknown_command(const CLI::App *app, int argc, char **argv) {
  for (int i = 1; i < argc && app->get_require_subcommand_min() > 0 && argv[i][0] != '-'; ++i) {
    const auto found = app->get_subcommands([&](const CLI::App *command) { return command->get_name() == argv[i]; });
    if (found.empty()) return argv[i];
    app = found.front();
  }
  return nullptr;
}

}  // namespace

int run_command_line(const std::string &name, const std::string &what, const std::string &version,
                     const std::function<void(Command program)> &add, int argc, char **argv) {
  CLI::App app{what, name};
  app.require_subcommand(1);
  app.set_version_flag("--version", name + " " + version);
  app.failure_message([](const CLI::App *failed, const CLI::Error &error) {  // it has the user's words
    return CLI::FailureMessage::simple(failed, CLI::Error(error.get_name(), printable(error.what()), error.get_exit_code()));
  });
  add(Command(&app));
  if (const char *word = unknown_command(&app, argc, argv)) {
    fprintf(stderr, "%s: unknown subcommand \"%s\"; `%s --help` lists them\n", name.c_str(), printable(word).c_str(),
            name.c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace asr::tool
