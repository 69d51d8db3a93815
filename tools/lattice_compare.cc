// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice compare`: checks that the word sequences of other lattices are in these, at the same costs. For
// comparing decoders, devices and settings.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "core/base/limits.h"
#include "core/lattice/nbest.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct CompareOptions {
  LatticeInput input;  // the lattices to search
  LatticeInput others;
  double beam = 8, tolerance = 0.01;
  size_t n_paths = 10000;
  bool each = false;
};

struct Comparison {
  size_t n_lattices = 0, n_missing_lattices = 0, n_cut_short = 0;
  size_t n_paths = 0, n_missing = 0, n_cheaper = 0, n_dearer = 0;
  double largest_difference = 0;  // largest cost difference of a path in both
};

using Lattices = std::map<std::string, CompactLattice>;

class Comparing {
 public:
  Comparing(const CompareOptions &options, const WordSymbols *symbols) : options_(options), symbols_(symbols) {}

  void add(const std::string &id, const CompactLattice &lattice, const CompactLattice &other) {
    const double scale = options_.input.acoustic_scale;
    uint64_t n_steps = kMaxComparedSteps;
    size_t n_found = 0;
    double best = 0;
    const auto compare = [&](const LatticePath &path) {
      if (n_found == options_.n_paths) return false;
      const double cost = path.cost.total(scale);
      const std::optional<double> found = cost_of_words(lattice, path.words, scale, &n_steps);
      if (n_steps == 0) return false;
      if (++n_found == 1) best = cost;
      if (found) result.largest_difference = std::max(result.largest_difference, std::abs(*found - cost));
      result.n_missing += !found;
      result.n_cheaper += found && *found < cost - options_.tolerance;
      result.n_dearer += found && *found > cost + options_.tolerance;
      if (options_.each && (!found || std::abs(*found - cost) > options_.tolerance)) {
        print(id, n_found, cost - best, found ? *found - cost : kNoEnd.graph, path.words);
      }
      return true;
    };
    const size_t one_more = options_.n_paths + 1;  // to know whether there is another
    ++result.n_lattices;
    result.n_cut_short += visit_best_paths(other, scale, one_more, options_.beam, compare) ? 0 : 1;
    result.n_paths += n_found;
  }

  Comparison result;

 private:
  void print(const std::string &id, size_t rank, double above_best, double difference,
             const std::vector<uint32_t> &words) const {
    printf("%s-%zu, %.3f above the best: ", id.c_str(), rank, above_best);
    if (std::isinf(difference)) {
      printf("missing:");
    } else {
      printf("%.4f %s:", std::abs(difference), difference < 0 ? "cheaper here" : "dearer here");
    }
    printf(" %s\n", symbols_->text(words).c_str());
  }

  const CompareOptions &options_;
  const WordSymbols *symbols_;
};

void run(const CompareOptions &options) {
  std::unique_ptr<WordSymbols> symbols;
  if (options.each) {
    if (options.input.words_path.empty()) throw UsageError("lattice compare: give --words with --each");
    symbols = std::make_unique<WordSymbols>(options.input.words_path);
  }
  Lattices lattices;
  const LatticesTried kept =
      options.input.for_each([&](const std::string &id, const CompactLattice &lattice) { lattices[id] = lattice; });
  Comparing comparing(options, symbols.get());
  const LatticesTried tried = options.others.for_each([&](const std::string &id, const CompactLattice &other) {
    const auto found = lattices.find(id);
    if (found != lattices.end()) return comparing.add(id, found->second, other);
    ++comparing.result.n_missing_lattices;
    if (options.each) printf("%s: missing\n", id.c_str());
  });
  const Comparison &all = comparing.result;
  printf("%zu lattices compared, %zu missing\n", all.n_lattices, all.n_missing_lattices);
  if (all.n_cut_short > 0)
    printf("of %zu not all word sequences were looked for: they are more than -n %zu, or their search takes too long\n",
           all.n_cut_short, options.n_paths);
  printf("%zu word sequences within %g of the best: %zu missing, %zu cheaper and %zu dearer by more than %g\n", all.n_paths,
         options.beam, all.n_missing, all.n_cheaper, all.n_dearer, options.tolerance);
  printf("largest difference of cost %.6f\n", all.largest_difference);
  kept.check(options.input.path);
  tried.check(options.others.path);
}

}  // namespace

void add_lattice_compare(Command lattice) {
  Command command = lattice.command("compare", "Look for the word sequences of other lattices, and compare their costs");
  const auto options = std::make_shared<CompareOptions>();
  add_lattice_path(command, &options->input);
  command.option("OTHERS", options->others.path, "The other archive: FILE or ark:FILE").required();
  add_acoustic_scale(command, &options->input);
  command.option("--beam", options->beam, "Word sequences that cost at most so much more than the best")
      .range(0.0, 1e9)
      .shows_default();
  command.option("--tolerance", options->tolerance, "Difference of costs that does not count").range(0.0, 1e9).shows_default();
  command.option("-n", options->n_paths, "Most word sequences of a lattice").range(1u, kMaxAlternatives).shows_default();
  command.option("--words", options->input.words_path, "words.txt of the graph; with --each");
  command.flag("--each", options->each, "Print each word sequence that is missing or differs");
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
