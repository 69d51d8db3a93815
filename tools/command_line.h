// SPDX-License-Identifier: Apache-2.0
// Command and Option declare the command lines of subcommands. Only command_line.cc includes CLI11, since a file that includes
// it takes several times as long to compile.
//   Command wer = senone.command("wer", "Count word errors against transcripts");
//   wer.option("--beam", options->beam, "Width of the search").range(0.0, 1000.0).shows_default();
//   wer.callback([options] { run(*options); });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace asr::tool {

// Option is an option, a flag or a positional argument of a command. Handles are small and are passed by value.
class Option {
 public:
  explicit Option(CLI::Option *option) : option_(option) {}

  Option required();
  Option shows_default();  // in --help: the variable's current value
  Option range(int lowest, int highest);
  Option range(uint32_t lowest, uint32_t highest);
  Option range(double lowest, double highest);
  Option one_of(const std::vector<std::string> &values);
  Option one_of(const std::vector<uint32_t> &values);
  Option separated_by(char delimiter);  // several values in one argument
  Option takes(int n_values);
  Option one_each_time();   // each use of the option has one of several values
  Option may_lack_value();  // the variable is then empty
  Option needs(const std::string &other);
  Option excludes(const std::string &other);

 private:
  CLI::Option *option_;
};

// Command is the program or one of its subcommands. Variables must live until it has run.
class Command {
 public:
  explicit Command(CLI::App *app) : app_(app) {}

  Command command(const std::string &name, const std::string &what);  // adds a subcommand
  void requires_command();                                            // exactly one of its subcommands must be given
  Command at_most_one(const std::string &name);                       // a group of flags that exclude each other

  // Adds an option "--name" or "-n"; without a dash, a positional argument. Value is a number, a string, or an optional or a
  // vector of these: command_line.cc lists them. Empty texts and NaN are refused.
  template <class Value>
  Option option(const std::string &name, Value &value, const std::string &what);
  Option flag(const std::string &name, bool &value, const std::string &what);  // "!--name" clears it

  bool got_command() const;  // one of its subcommands was given

  void callback(std::function<void()> run);  // after all options have their values

 private:
  CLI::App *app_;
};

// Parses the program's arguments, with the commands declared by `add`, and runs the chosen command. Returns 0, or 2 after a
// message about bad usage; exceptions of the command pass through.
int run_command_line(const std::string &name, const std::string &what, const std::string &version,
                     const std::function<void(Command program)> &add, int argc, char **argv);

}  // namespace asr::tool
