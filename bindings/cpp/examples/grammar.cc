// SPDX-License-Identifier: Apache-2.0
// grammar_cpp BUNDLE DICTIONARY GRAMMAR.jsgf FILE.raw: compiles a grammar for the bundle's model and recognises a
// recording (16-bit mono samples at the model's rate). Prints the words, the rule and the tags.
#include <fstream>
#include <iostream>
#include <iterator>
#include <senone_build.hpp>
#include <vector>

namespace {

std::string read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string(path) + ": cannot be opened");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc != 5) throw std::invalid_argument("usage: grammar_cpp BUNDLE DICTIONARY GRAMMAR.jsgf FILE.raw");
  senone::GrammarBuilder builder(argv[1]);
  builder.add_lexicon(argv[2]);
  senone::BuildConfig how;
  how.name = argv[3];
  const senone::Grammar grammar = builder.jsgf(read(argv[3]), how);

  senone::Engine engine(argv[1]);
  engine.add_graph_bytes("grammar", grammar.bytes());
  senone::StreamConfig config;
  config.graph = "grammar";
  senone::Stream stream = engine.open(config);
  const std::string audio = read(argv[4]);
  stream.feed(reinterpret_cast<const std::int16_t *>(audio.data()), audio.size() / sizeof(std::int16_t));
  stream.finish();
  const senone::Event final = stream.final_event();
  std::cout << final.text() << '\n';
  for (const senone::Alternative alternative : final.alternatives()) {
    std::cout << "rule " << alternative.rule() << ", tags " << alternative.tags() << '\n';
  }
} catch (const std::exception &error) {
  std::cerr << "grammar_cpp: " << error.what() << '\n';
  return 1;
}
