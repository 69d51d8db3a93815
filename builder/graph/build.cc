// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/build.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "builder/graph/compact.h"
#include "core/base/error.h"

namespace asr {
namespace {

// Returns memory to the system that a step has freed in many small blocks, if there was enough work to be worth the walk.
void return_memory([[maybe_unused]] size_t n_arcs) {
#ifdef __GLIBC__
  constexpr size_t kManyArcs = 1000000;
  if (n_arcs > kManyArcs) malloc_trim(0);
#endif
}

}  // namespace

std::vector<Filler> make_fillers(const HmmSet &set, const GraphOptions &options, double *cost_of_none) {
  std::vector<Filler> fillers;
  double none = 1;
  const auto add = [&](uint32_t phone, double probability) {
    if (probability <= 0) return;
    // Silence twice in a row is the same pause as once, so that the probabilities of any number of them add up to p / (1 - p).
    // Above 1 another silence would gain something without end.
    fillers.push_back({phone, static_cast<float>(-std::log(std::min(1.0, probability / (1 - probability))))});
    none -= probability;
  };
  if (set.silence != kNoPhone) add(set.silence, options.silence_prob);
  std::vector<uint32_t> phones = options.filler_phones;
  std::sort(phones.begin(), phones.end());
  phones.erase(std::unique(phones.begin(), phones.end()), phones.end());
  for (uint32_t phone : phones) {
    if (phone != set.silence) add(phone, options.filler_prob);
  }
  if (none <= 0) {
    fail(ASR_INVALID_ARGUMENT,
         "the probabilities of silence and of %zu fillers leave nothing for speech; lower the probability of "
         "silence or of fillers",
         fillers.size());
  }
  *cost_of_none = -std::log(none);
  return fillers;
}

GraphData build_graph(const HmmSet &set, const Lexicon &lexicon, const Grammar &grammar, const GraphOptions &options,
                      const BuildProgress &progress, GraphSizes *sizes) {
  return build_graph(set, ContextTable(set), lexicon, grammar, options, progress, sizes);
}

GraphData build_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon, const Grammar &grammar,
                      const GraphOptions &options, const BuildProgress &progress, GraphSizes *sizes) {
  const auto part = [&](double begin, double end) {
    return
        [&progress, begin, end](double fraction, const std::string &what) { progress(begin + (end - begin) * fraction, what); };
  };
  double cost_of_none = 0;
  const bool has_tokens = options.tokens.topology != TokenTopology::kNone;
  const std::vector<Filler> fillers = has_tokens ? std::vector<Filler>() : make_fillers(set, options, &cost_of_none);
  *sizes = {grammar.n_states(), grammar.n_arcs(), 0, 0, 0, 0};
  Expansion expansion;
  {
    const LexicalGraph lexical = make_lexical_graph(grammar, lexicon, cost_of_none, part(0, 0.2));
    sizes->lexical_states = lexical.n_states();
    sizes->lexical_arcs = lexical.arcs.size();
    return_memory(lexical.arcs.size());
    expansion = has_tokens ? expand_tokens(lexical, grammar.n_states(), static_cast<uint32_t>(set.phones.size()),
                                           options.tokens, part(0.2, 0.6))
                           : expand_contexts(lexical, set, contexts, fillers, options.scales, part(0.2, 0.6));
  }
  StateGraph &graph = expansion.graph;
  sizes->expanded_states = graph.n_states();
  sizes->expanded_arcs = graph.arcs.size();
  return_memory(graph.arcs.size());
  progress(0.6, "removing epsilons");
  remove_epsilons(&graph);
  std::vector<uint32_t> states = minimise(&graph, part(0.6, 0.9), kMaxMinimisingSteps, options.n_threads);
  progress(0.9, "packing");
  const auto n_words = static_cast<uint32_t>(grammar.words.size());
  return pack(std::move(graph), std::move(states), expansion.transitions, set.n_pdfs, n_words);
}

}  // namespace asr
