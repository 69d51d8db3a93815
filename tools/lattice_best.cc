// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice best` and `senone lattice nbest`: the words of the least costly paths.
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/base/limits.h"
#include "core/lattice/nbest.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

constexpr size_t kMaxPaths = 16 * kMaxAlternatives;  // looked at for paths whose words no earlier one has

struct BestOptions {
  LatticeInput input;
  size_t n = 1;
  bool costs = false;
};

struct BestPaths {
  std::vector<std::pair<std::vector<uint32_t>, LatticeCost>> paths;  // words and costs
  const char *why_fewer = "";                                        // why there are fewer than asked for, if there may be more
};

// Returns the best n word sequences. A lattice that was not determinised has several paths of some, so that more than n paths
// are looked at where it turns out to be one.
BestPaths best_words_of(const CompactLattice &lattice, double acoustic_scale, size_t n) {
  constexpr double kAnyCost = std::numeric_limits<double>::infinity();
  for (size_t n_paths = n;; n_paths = std::min(4 * n_paths, kMaxPaths)) {
    BestPaths best;
    std::set<std::vector<uint32_t>> found;
    size_t n_seen = 0;
    const auto visit = [&](const LatticePath &path) {
      ++n_seen;
      if (found.insert(path.words).second) best.paths.emplace_back(path.words, path.cost);
      return best.paths.size() < n;
    };
    const bool complete = visit_best_paths(lattice, acoustic_scale, n_paths, kAnyCost, visit);
    if (best.paths.size() == n || (complete && n_seen < n_paths)) return best;
    if (!complete) best.why_fewer = "as the search for more takes too much memory; prune the lattice";
    if (complete && n_paths == kMaxPaths) best.why_fewer = "as most paths have equal words; determinise the lattice";
    if (best.why_fewer[0] != '\0') return best;
  }
}

void run(const BestOptions &options) {
  const WordSymbols symbols(options.input.words_path);
  const double scale = options.input.acoustic_scale;
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    const BestPaths best = best_words_of(lattice, scale, options.n);
    std::string lines;
    for (size_t i = 0; i < best.paths.size(); ++i) {
      const auto &[words, cost] = best.paths[i];
      lines += options.n > 1 ? format("%s-%zu", id.c_str(), i + 1) : id;
      if (options.costs) lines += format(" %.4f %.4f %.4f", cost.total(scale), cost.graph, cost.acoustic);
      lines += (words.empty() ? "" : " ") + symbols.text(words) + "\n";
    }
    fputs(best.paths.empty() ? (id + "\n").c_str() : lines.c_str(), stdout);
    if (best.why_fewer[0] == '\0') return;
    print_line(stderr, "%s, %s: only %zu paths, %s", options.input.path.c_str(), id.c_str(), best.paths.size(), best.why_fewer);
  });
  tried.check(options.input.path);
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
  command.option("-n", n_best->n, "Word sequences of a lattice").range(1u, kMaxAlternatives).shows_default();
  add(command, n_best);
}

}  // namespace asr::tool
