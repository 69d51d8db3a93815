// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/graph_builder.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/graph/archive.h"
#include "core/graph/build/bundle_parts.h"

namespace asr {
namespace {

HmmSet read_listed_hmms(const Bundle &bundle) {
  if (bundle.has("hmms.bin"))
    check_bundle_file(bundle.file("hmms.bin"), bundle.files.at("hmms.bin"), sum_file(bundle.file("hmms.bin")));
  HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  return set;
}

std::string this_version() { return format("%d.%d.%d", ASR_VERSION_MAJOR, ASR_VERSION_MINOR, ASR_VERSION_PATCH); }

}  // namespace

GraphBuilder::Model::Model(const std::string &bundle_path)
    : bundle(read_bundle_index(bundle_path)),
      set(read_listed_hmms(bundle)),
      contexts(set),
      fillers(filler_phones(bundle, set)) {}

GraphBuilder::GraphBuilder(const std::string &bundle_path) : model_(bundle_path) {}

std::shared_ptr<const Lexicon> GraphBuilder::lexicon() const {
  const std::lock_guard lock(mutex_);
  return lexicon_;
}

void GraphBuilder::add_lexicon(const std::string &text, const std::string &source) {
  size_t n_left_out = 0;
  const Lexicon added = parse_sphinx_lexicon(text, source, model_.set, &n_left_out);
  const std::lock_guard lock(mutex_);
  lexicon_ = std::make_shared<const Lexicon>(merge(*lexicon_, added, source));
}

BuiltGraph GraphBuilder::build(const std::function<Grammar(const Vocabulary &)> &make_grammar, const BuildOptions &options,
                               const std::string &maker) const {
  const std::shared_ptr<const Lexicon> all = lexicon();
  BuiltGraph built;
  // A pronouncer of words that no lexicon has (G2P) would answer here, and add what it says to the lexicon below.
  Vocabulary vocabulary;
  vocabulary.pronounced = [&](const std::string &word) { return all->contains(word); };
  vocabulary.dictionary = "the builder's lexicons";
  vocabulary.drop_unknown = options.drop_unknown;
  vocabulary.remedy =
      "add them with asr_builder_add_lexicon, check asr_build_config.letter_case, or set its field unknown to "
      "ASR_BUILD_DROP_UNKNOWN";
  vocabulary.dropped = &built.unknown;
  const Grammar grammar = make_grammar(vocabulary);
  std::sort(built.unknown.begin(), built.unknown.end());

  GraphOptions graph_options = options.graph;
  graph_options.filler_phones = model_.fillers;
  GraphSizes sizes{};
  const auto silent = [](double, const std::string &) {};
  const GraphData graph =
      build_graph(model_.set, model_.contexts, restricted(*all, grammar.words), grammar, graph_options, silent, &sizes);
  Bundle bundle = model_.bundle;
  bundle.decoding.reject_threshold = kGrammarRejectThreshold;
  note_graph_step(&bundle, {this_version(), {"graph", maker}});
  built.archive = graph_archive(bundle, graph, {grammar.words, grammar.labels}, phone_symbols(model_.set));
  built.n_arcs = graph.arcs.size();
  built.n_states = graph.n_states();
  built.n_words = static_cast<uint32_t>(grammar.words.size() - 1);
  return built;
}

}  // namespace asr
