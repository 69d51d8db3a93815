// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/build.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/build/compact.h"

namespace asr {
namespace {

// The fillers that may stand between words, and the cost of standing there without one.
std::vector<Filler> make_fillers(const HmmSet &set, const GraphOptions &options, double *cost_of_none) {
  std::vector<Filler> fillers;
  double none = 1;
  const auto add = [&](uint32_t phone, double probability) {
    if (probability <= 0) return;
    fillers.push_back({phone, static_cast<float>(-std::log(probability))});
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
         "the probabilities of silence and of %zu fillers leave nothing for speech; lower --silence-prob or "
         "--filler-prob",
         fillers.size());
  }
  *cost_of_none = -std::log(none);
  return fillers;
}

}  // namespace

GraphData build_graph(const HmmSet &set, const Lexicon &lexicon, const Grammar &grammar, const GraphOptions &options,
                      const BuildProgress &progress, GraphSizes *sizes) {
  const auto part = [&](double begin, double end) {
    return
        [&progress, begin, end](double fraction, const std::string &what) { progress(begin + (end - begin) * fraction, what); };
  };
  double cost_of_none = 0;
  const std::vector<Filler> fillers = make_fillers(set, options, &cost_of_none);
  const LexicalGraph lexical = make_lexical_graph(grammar, lexicon, cost_of_none, part(0, 0.2));
  Expansion expansion = expand_contexts(lexical, set, fillers, options.scales, part(0.2, 0.6));
  *sizes = {grammar.n_states(),  grammar.n_arcs(),           lexical.n_states(),
            lexical.arcs.size(), expansion.graph.n_states(), expansion.graph.arcs.size()};
  progress(0.6, "removing epsilons");
  expansion.graph = order_breadth_first(remove_epsilons(expansion.graph));
  expansion.graph = order_breadth_first(minimise(expansion.graph, part(0.6, 0.9)));
  progress(0.9, "packing");
  return pack(expansion.graph, expansion.transitions, set.n_pdfs, static_cast<uint32_t>(grammar.words.size()));
}

}  // namespace asr
