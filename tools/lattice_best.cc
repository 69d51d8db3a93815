// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice best` and `senone lattice nbest`: the words of the least costly paths.
#include <cstdio>
#include <limits>
#include <memory>

#include "core/base/limits.h"
#include "core/lattice/nbest.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct BestOptions {
  LatticeInput input;
  size_t n = 1;
  bool costs = false;
};

void run(const BestOptions &options) {
  const WordSymbols symbols(options.input.words_path);
  options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    size_t n = 0;
    const auto print = [&](const LatticePath &path) {
      ++n;
      printf("%s", id.c_str());
      if (options.n > 1) printf("-%zu", n);
      if (options.costs) {
        const LatticeCost &cost = path.cost;
        printf(" %.4f %.4f %.4f", cost.total(options.input.acoustic_scale), cost.graph, cost.acoustic);
      }
      const std::string words = symbols.text(path.words);
      printf("%s%s\n", words.empty() ? "" : " ", words.c_str());
      return true;
    };
    constexpr double kAnyCost = std::numeric_limits<double>::infinity();
    const bool complete = visit_best_paths(lattice, options.input.acoustic_scale, options.n, kAnyCost, print);
    if (n == 0) printf("%s\n", id.c_str());
    if (complete || n == options.n) return;
    print_line(stderr, "%s, %s: only %zu paths, as the search for more takes too much memory; prune the lattice",
               options.input.path.c_str(), id.c_str(), n);
  });
}

void add(Command command, const std::shared_ptr<BestOptions> &options) {
  add_lattice_path(command, &options->input);
  add_words_path(command, &options->input);
  add_acoustic_scale(command, &options->input);
  command.flag("--costs", options->costs, "Before the words: total cost, graph cost, acoustic cost (unscaled)");
  command.callback([options] { run(*options); });
}

}  // namespace

void add_lattice_best(Command lattice) {
  const auto best = std::make_shared<BestOptions>();
  add(lattice.command("best", "The words of the best path: lines \"utt-id words\""), best);

  const auto n_best = std::make_shared<BestOptions>();
  n_best->n = 10;
  Command command = lattice.command("nbest", "The words of the best paths: lines \"utt-id-rank words\"");
  command.option("-n", n_best->n, "Paths of a lattice").range(1u, kMostAlternatives).shows_default();
  add(command, n_best);
}

}  // namespace asr::tool
