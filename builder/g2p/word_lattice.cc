// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/word_lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr uint32_t kMaxInsertions = 3;  // most consecutive units without letters

struct Range {
  uint32_t begin, end;
};

// Histories after a number of letters and, from 1 on, a number of units without letters.
struct Level {
  std::vector<uint32_t> nodes;
  std::unordered_map<uint32_t, uint32_t> node_of;  // key: history
};

class Builder {
 public:
  Builder(const G2pModel &model, const std::vector<uint16_t> &letters, double beam)
      : model_(model),
        letters_(letters),
        beam_(beam),
        levels_((letters.size() + 1) * (kMaxInsertions + 1) + 1),
        best_(letters.size() + 2, kNever) {}

  WordLattice run();

 private:
  struct Arc {
    uint32_t unit, to;
    double cost;
  };
  struct Node {
    uint32_t history;
    double best = kNever, rest = -kNever;  // cost of the best way to the node; ln of the sum of all ways from it
    uint32_t first_arc = 0, n_arcs = 0;
  };

  const G2pModel &model_;
  const std::vector<uint16_t> &letters_;
  const double beam_;
  std::vector<Level> levels_;  // the last level holds the end
  std::vector<Node> nodes_;
  std::vector<Arc> arcs_;
  std::vector<double> best_;  // [number of letters]: least cost of a node
  std::vector<bool> seen_;    // units for which the node has an arc

  size_t level_after(size_t n_letters, uint32_t n_insertions) const { return n_letters * (kMaxInsertions + 1) + n_insertions; }
  uint32_t history_of(uint32_t ngram) const;
  uint32_t node_at(size_t level, uint32_t history);
  Range units_with(uint16_t letter) const;
  void expand(uint32_t node, Range units, size_t level);
  void expand_level(size_t n_letters, uint32_t n_insertions);
  void sum_ways();
  WordLattice result() const;
};

// Returns the longest suffix of an n-gram that determines the next units.
uint32_t Builder::history_of(uint32_t ngram) const {
  const auto tells = [&](uint32_t n) {
    return n < model_.n_inner() && (model_.first_child[n] < model_.first_child[n + 1] || model_.backoff[n] != 0);
  };
  while (ngram != 0 && !tells(ngram)) ngram = model_.suffix[ngram];
  return ngram;
}

uint32_t Builder::node_at(size_t level, uint32_t history) {
  const auto [found, added] = levels_[level].node_of.emplace(history, static_cast<uint32_t>(nodes_.size()));
  if (added) {
    nodes_.push_back({});
    nodes_.back().history = history;
    levels_[level].nodes.push_back(found->second);
  }
  return found->second;
}

// Returns the range of units with this letter.
Range Builder::units_with(uint16_t letter) const {
  const auto first = model_.units.begin() + kFirstUnit, last = model_.units.end();
  const auto begin = std::lower_bound(first, last, letter, [](const G2pUnit &unit, uint16_t l) { return unit.letter < l; });
  const auto end = std::upper_bound(begin, last, letter, [](uint16_t l, const G2pUnit &unit) { return l < unit.letter; });
  return {static_cast<uint32_t>(begin - model_.units.begin()), static_cast<uint32_t>(end - model_.units.begin())};
}

// Adds arcs for all units of a range; the longest history that contains a unit determines its cost.
void Builder::expand(uint32_t node, Range units, size_t level) {
  if (units.begin == units.end) return;
  seen_.assign(units.end - units.begin, false);
  uint32_t n_left = units.end - units.begin;
  uint32_t backoff = 0;
  for (uint32_t history = nodes_[node].history; n_left > 0; history = model_.suffix[history]) {
    for (uint32_t child = model_.lower_child(history, units.begin);
         child < model_.end_child(history) && model_.unit[child] < units.end; ++child) {
      const uint32_t unit = model_.unit[child];
      if (seen_[unit - units.begin]) continue;
      seen_[unit - units.begin] = true;
      --n_left;
      const double cost = (backoff + model_.cost[child]) / kG2pCostsInNat;
      const uint32_t to = node_at(level, level + 1 == levels_.size() ? 0 : history_of(child));
      nodes_[to].best = std::min(nodes_[to].best, nodes_[node].best + cost);
      double &best = best_[level / (kMaxInsertions + 1)];
      best = std::min(best, nodes_[to].best);
      if (arcs_.size() >= kMaxSpellingArcs) {
        fail(ASR_UNSUPPORTED,
             "a word of %zu letters has more than %zu ways between its letters; train the model on a cleaner dictionary",
             letters_.size(), kMaxSpellingArcs);
      }
      arcs_.push_back({unit, to, cost});
    }
    backoff += model_.backoff[history];
  }
}

void Builder::expand_level(size_t n_letters, uint32_t n_insertions) {
  const size_t level = level_after(n_letters, n_insertions);
  const bool ends = n_letters == letters_.size();
  const Range with_letter = ends ? Range{kEnd, kEnd + 1} : units_with(letters_[n_letters]);
  const Range without = n_insertions < kMaxInsertions ? units_with(kNoSymbol) : Range{0, 0};
  for (size_t i = 0; i < levels_[level].nodes.size(); ++i) {
    const uint32_t node = levels_[level].nodes[i];
    nodes_[node].first_arc = static_cast<uint32_t>(arcs_.size());
    if (nodes_[node].best > best_[n_letters] + beam_) continue;
    expand(node, with_letter, level_after(n_letters + 1, 0));
    expand(node, without, level + 1);
    nodes_[node].n_arcs = static_cast<uint32_t>(arcs_.size()) - nodes_[node].first_arc;
  }
}

void Builder::sum_ways() {
  for (size_t level = levels_.size() - 1; level-- > 0;) {
    for (const uint32_t number : levels_[level].nodes) {
      Node &node = nodes_[number];
      double most = -kNever, sum = 0;
      const auto through = [&](uint32_t i) {
        return nodes_[arcs_[node.first_arc + i].to].rest - arcs_[node.first_arc + i].cost;
      };
      for (uint32_t i = 0; i < node.n_arcs; ++i) most = std::max(most, through(i));
      if (most == -kNever) continue;
      for (uint32_t i = 0; i < node.n_arcs; ++i) sum += std::exp(through(i) - most);
      node.rest = most + std::log(sum);
    }
  }
}

// Returns the lattice without nodes that cannot reach the end.
WordLattice Builder::result() const {
  std::vector<uint32_t> number(nodes_.size());
  uint32_t n = 0;
  for (const Level &level : levels_) {
    for (const uint32_t node : level.nodes) {
      if (nodes_[node].rest != -kNever) number[node] = n++;
    }
  }
  WordLattice lattice;
  for (const Level &level : levels_) {
    for (const uint32_t from : level.nodes) {
      const Node &node = nodes_[from];
      if (node.rest == -kNever) continue;
      lattice.first_arc.push_back(static_cast<uint32_t>(lattice.arcs.size()));
      for (uint32_t i = node.first_arc; i < node.first_arc + node.n_arcs; ++i) {
        const Arc &arc = arcs_[i];
        if (nodes_[arc.to].rest == -kNever) continue;
        lattice.arcs.push_back({arc.unit, number[arc.to], std::exp(nodes_[arc.to].rest - arc.cost - node.rest)});
      }
    }
  }
  lattice.first_arc.push_back(static_cast<uint32_t>(lattice.arcs.size()));
  return lattice;
}

WordLattice Builder::run() {
  nodes_[node_at(0, history_of(1 + kBegin))].best = best_[0] = 0;
  for (size_t n_letters = 0; n_letters <= letters_.size(); ++n_letters) {
    for (uint32_t n_insertions = 0; n_insertions <= kMaxInsertions; ++n_insertions) expand_level(n_letters, n_insertions);
  }
  for (const uint32_t end : levels_.back().nodes) nodes_[end].rest = 0;
  sum_ways();
  return result();
}

}  // namespace

WordLattice make_word_lattice(const G2pModel &model, const std::vector<uint16_t> &letters, double beam) {
  return Builder(model, letters, beam).run();
}

}  // namespace asr
