// SPDX-License-Identifier: Apache-2.0
#include "builder/ctc/phrase_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kCollectAt = size_t{1} << 20;  // nodes before the first collection

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash += 0x9e3779b97f4a7c15u + value * 0xd6e8feb86659fd93u;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

// Puts a candidate into a pair of the two best ones, which are distinct. `Candidate` has cost and hash through `of`.
template <typename Candidate, typename Of>
void put(const Candidate &candidate, Candidate *first, Candidate *second, Of of) {
  if (!(of(candidate).cost < of(*second).cost)) return;
  if (of(candidate).cost < of(*first).cost) {
    if (of(candidate).hash != of(*first).hash) *second = *first;
    *first = candidate;
  } else if (of(candidate).hash != of(*first).hash) {
    *second = candidate;
  }
}

}  // namespace

PhraseSearch::PhraseSearch(std::shared_ptr<const PhraseGraph> graph, const PhraseOptions &options)
    : graph_(std::move(graph)), options_(options) {
  reset();
}

void PhraseSearch::reset() {
  const Hypothesis none{kNever, 0, 0, 0};
  blanks_.assign(graph_->n_states(), {none, none});
  best_ = blanks_;
  cells_.assign(graph_->n_cells(), {none, none});
  next_cells_ = cells_;
  nodes_.assign(1, {0, -1});
  n_kept_ = 1;
  n_rows_ = 0;
  blanks_[graph_->start].first = {0, 0, 0, 0};
  best_[graph_->start] = blanks_[graph_->start];
}

void PhraseSearch::feed(const float *rows, size_t n_rows, size_t row_length) {
  const uint32_t last_token = graph_->tokens.empty() ? 0 : graph_->tokens.back();
  if (row_length <= std::max(last_token, graph_->blank)) {
    fail(ASR_INVALID_ARGUMENT,
         "rows have %zu values; the grammar has the token %u and the blank %u; give a value for each token", row_length,
         last_token, graph_->blank);
  }
  for (size_t i = 0; i < n_rows * row_length; ++i) {
    if (std::isnan(rows[i]) || rows[i] == std::numeric_limits<float>::infinity()) {
      fail(ASR_BAD_AUDIO, "row %zu: value %zu is not a log probability; give finite ones or -inf", i / row_length,
           i % row_length);
    }
  }
  for (size_t t = 0; t < n_rows; ++t) step(rows + t * row_length);
}

// Returns the two best hypotheses that may take the arc: all of its state but those that end in the arc's token, for which CTC
// asks for a blank.
PhraseSearch::Pair PhraseSearch::enter(const PhraseGraph::Arc &arc) const {
  if (arc.own_cell == PhraseGraph::kNoCell) return best_[arc.from];
  const auto self = [](const Hypothesis &h) -> const Hypothesis & { return h; };
  Pair pair = blanks_[arc.from];
  for (uint32_t c = graph_->first_cell[arc.from]; c < graph_->first_cell[arc.from + 1]; ++c) {
    if (c == arc.own_cell) continue;
    put(cells_[c].first, &pair.first, &pair.second, self);
    put(cells_[c].second, &pair.first, &pair.second, self);
  }
  return pair;
}

// One frame: every cell keeps its token or is entered by its arcs, and every state takes a blank.
void PhraseSearch::step(const float *row) {
  double threshold = -kNever;
  if (options_.beam > 0) {
    float best = row[graph_->blank];
    for (const uint32_t token : graph_->tokens) best = std::max(best, row[token]);
    threshold = best - static_cast<float>(options_.beam);
  }
  const auto of = [](const Entry &e) -> const Hypothesis & { return e.hypothesis; };
  const auto self = [](const Hypothesis &h) -> const Hypothesis & { return h; };
  ++n_rows_;
  for (size_t c = 0; c < graph_->n_cells(); ++c) {
    const PhraseGraph::Cell &cell = graph_->cells[c];
    const float score = row[cell.token];
    Entry first{cells_[c].first, -1}, second{cells_[c].second, -1};
    if (score < threshold || score == -kNever) first.hypothesis.cost = second.hypothesis.cost = kNever;
    const uint32_t end = score < threshold ? cell.first_arc : graph_->cells[c + 1].first_arc;
    for (uint32_t i = cell.first_arc; i < end; ++i) {
      const PhraseGraph::Arc &arc = graph_->arcs[i];
      if (!(best_[arc.from].first.cost < kNever)) continue;
      const Pair pair = enter(arc);
      for (const Hypothesis *source : {&pair.first, &pair.second}) {
        if (!(source->cost < kNever)) continue;
        Entry entry{*source, arc.id};
        if (arc.id >= 0) {
          entry.hypothesis.cost -= options_.token_bonus;
          ++entry.hypothesis.n_ids;
          const bool by_times = options_.distinct == Distinct::kTimes;
          const uint64_t time = by_times ? n_rows_ << 32 : 0;
          if (!by_times || arc.decides) entry.hypothesis.hash = mixed(source->hash, time ^ static_cast<uint32_t>(arc.id));
        }
        put(entry, &first, &second, of);
      }
    }
    Pair &next = next_cells_[c];
    for (auto [entry, target] : {std::pair(&first, &next.first), std::pair(&second, &next.second)}) {
      entry->hypothesis.cost -= score;
      if (!(entry->hypothesis.cost < kNever))
        entry->hypothesis = {kNever, 0, 0, 0};
      else if (entry->id >= 0)
        entry->hypothesis.last = add_node(entry->hypothesis.last, entry->id);
      *target = entry->hypothesis;
    }
  }
  cells_.swap(next_cells_);
  const float blank = row[graph_->blank];
  const double blank_cost = blank < threshold ? kNever : -static_cast<double>(blank);
  for (size_t s = 0; s < graph_->n_states(); ++s) {
    blanks_[s] = best_[s];
    blanks_[s].first.cost += blank_cost;
    blanks_[s].second.cost += blank_cost;
    best_[s] = blanks_[s];
    for (uint32_t c = graph_->first_cell[s]; c < graph_->first_cell[s + 1]; ++c) {
      put(cells_[c].first, &best_[s].first, &best_[s].second, self);
      put(cells_[c].second, &best_[s].first, &best_[s].second, self);
    }
  }
  if (nodes_.size() > std::max(kCollectAt, 2 * n_kept_)) collect();
}

uint32_t PhraseSearch::add_node(uint32_t before, int32_t id) {
  if (nodes_.size() >= 0xffffffff)
    fail(ASR_OUT_OF_MEMORY, "phrases: the search has 2^32 places; use a beam, or a smaller grammar");
  nodes_.push_back({before, id});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

// Drops the nodes that no hypothesis leads to. A node comes behind the one before it, also afterwards.
void PhraseSearch::collect() {
  std::vector<uint32_t> number(nodes_.size(), 0);
  const auto mark = [&](const Hypothesis &h) {
    for (uint32_t node = h.cost < kNever ? h.last : 0; node != 0 && number[node] == 0; node = nodes_[node].before) {
      number[node] = 1;
    }
  };
  const auto for_all = [&](auto &&act) {
    for (auto *pairs : {&blanks_, &cells_, &best_}) {
      for (Pair &pair : *pairs) act(pair.first), act(pair.second);
    }
  };
  for_all(mark);
  uint32_t n = 1;
  for (size_t i = 1; i < nodes_.size(); ++i) {
    if (number[i] == 0) continue;
    nodes_[n] = {number[nodes_[i].before], nodes_[i].id};
    number[i] = n++;
  }
  nodes_.resize(n);
  n_kept_ = n;
  for_all([&](Hypothesis &h) { h.last = h.cost < kNever ? number[h.last] : 0; });
}

PhraseResult PhraseSearch::result() const {
  const Hypothesis none{kNever, 0, 0, 0};
  Pair pair{none, none};
  const auto self = [](const Hypothesis &h) -> const Hypothesis & { return h; };
  for (const uint32_t state : graph_->finals) {
    put(best_[state].first, &pair.first, &pair.second, self);
    put(best_[state].second, &pair.first, &pair.second, self);
  }
  PhraseResult result;
  result.has_best = pair.first.cost < kNever;
  result.has_second = pair.second.cost < kNever;
  if (result.has_best) result.best_cost = pair.first.cost + options_.token_bonus * pair.first.n_ids;
  if (result.has_second) result.second_cost = pair.second.cost + options_.token_bonus * pair.second.n_ids;
  for (uint32_t node = pair.first.last; node != 0; node = nodes_[node].before) result.ids.push_back(nodes_[node].id);
  std::reverse(result.ids.begin(), result.ids.end());
  return result;
}

}  // namespace asr
