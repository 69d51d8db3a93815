// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice rescore`: replaces the language model of the decoding graph by another one.
#include <cstdio>
#include <memory>

#include "builder/graph/grammar_scores.h"
#include "builder/graph/prune.h"
#include "builder/graph/trie_lm.h"
#include "core/base/limits.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/prune.h"
#include "core/lattice/rescore.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct RescoreOptions {
  LatticeInput input;
  std::string out, old_lm, new_lm;
  double beam = 0, old_prune = 0;
  bool text = false;
};

// Reads a model restricted to the words of the lattices. Other words of the model cannot occur, so they do no harm.
Grammar read_model(const std::string &path, double pruned, const WordSymbols &symbols) {
  const auto listed = [&](const std::string &word) { return symbols.number(word) < symbols.all().size(); };
  NgramModel model = read_language_model(path);
  if (pruned > 0) model = prune(model, pruned);
  return ngram_grammar(model, {listed, "", true}, path);
}

// [symbols]: words that neither model has, such as silence and noises.
std::vector<bool> outside(const WordSymbols &symbols, const Grammar &old_grammar, const Grammar &new_grammar) {
  std::vector<bool> outside(symbols.all().size(), true);
  for (const Grammar *grammar : {&old_grammar, &new_grammar}) {
    for (const std::string &word : grammar->words) outside[symbols.number(word)] = false;
  }
  return outside;
}

void run(const RescoreOptions &options) {
  const WordSymbols symbols(options.input.words_path);
  Grammar old_grammar = read_model(options.old_lm, options.old_prune, symbols);
  Grammar new_grammar = read_model(options.new_lm, 0, symbols);
  const std::vector<bool> ignored = outside(symbols, old_grammar, new_grammar);
  GrammarScores old_scores(std::move(old_grammar), symbols.all(), ignored);
  GrammarScores new_scores(std::move(new_grammar), symbols.all(), ignored);
  OutputFile out(options.out);
  const KaldiForm form = options.text ? KaldiForm::kText : KaldiForm::kBinary;
  size_t n_lattices = 0, n_empty = 0;
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    RescoreBounds bounds;
    bounds.max_states = kMaxRescoredStates, bounds.max_arcs = kMaxRescoredArcs;
    CompactLattice result = rescore(lattice, old_scores, new_scores, bounds);
    if (options.beam > 0) result = prune(result, options.input.acoustic_scale, options.beam);
    ++n_lattices;
    n_empty += result.n_states() == 0;
    write_kaldi_lattice(out, id, result, form);
  });
  out.commit();
  printf("%zu lattices", n_lattices);
  if (n_empty > 0) printf(", %zu of them empty now: the new model allows none of their paths", n_empty);
  printf("\n");
  tried.check(options.input.path);
}

}  // namespace

void add_lattice_rescore(Command lattice) {
  Command command = lattice.command("rescore", "Replace the language model's part of the graph costs");
  const auto options = std::make_shared<RescoreOptions>();
  add_lattice_path(command, &options->input);
  command.option("OUT", options->out, "The archive to write").required();
  add_words_path(command, &options->input);
  command.option("--old-lm", options->old_lm, "The language model that the graph was made of").required();
  command.option("--old-prune", options->old_prune, "--prune of the `senone graph` that made the graph").range(0.0, 1.0);
  command.option("--new-lm", options->new_lm, "The language model to take instead").required();
  Option beam = command.option("--beam", options->beam, "Prune the result to this lattice beam").range(0.0, 1e9);
  command.option("--acoustic-scale", options->input.acoustic_scale, "Weight of acoustic costs in pruning").range(1e-6, 1e6);
  beam.needs("--acoustic-scale");
  command.flag("--text", options->text, "Write text");
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
