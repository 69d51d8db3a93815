// SPDX-License-Identifier: Apache-2.0
#include "reference/viterbi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace asr::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint32_t kNone = 0xffffffffu;
constexpr uint32_t kCutPeriod = 1024, kCutDistance = 4096;

// ---- all paths, in double ----

void relax_epsilons(const asr_graph_view &graph, const asr_search_options &options, std::vector<double> &cost) {
  for (uint32_t round = 0; round < graph.n_states; ++round) {
    for (uint32_t s = 0; s < graph.n_states; ++s) {
      for (uint32_t a = graph.epsilon_begin[s]; a < graph.epsilon_begin[s + 1]; ++a) {
        const asr_graph_arc &arc = graph.arcs[a];
        const double word = arc.word != 0 ? options.word_insertion_cost : 0.0;
        cost[arc.next_state] = std::min(cost[arc.next_state], cost[s] + arc.graph_cost + word);
      }
    }
  }
}

// ---- the pruned search ----

// One arc of a path, after step `previous`.
struct Step {
  uint32_t previous, arc;
  float acoustic_cost;
};

struct Token {
  float cost;
  uint32_t arc;   // into its state, in this frame
  uint32_t last;  // step
};

struct Candidate {
  float cost;
  uint32_t arc, previous;
  float acoustic_cost;
};

using Tokens = std::map<uint32_t, Token>;
using Candidates = std::map<uint32_t, Candidate>;

class PrunedSearch {
 public:
  PrunedSearch(const asr_graph_view &graph, const asr_search_options &options) : graph_(graph), options_(options) {
    tokens_[graph.start_state] = {0.0f, kNone, kNone};
    follow_epsilons(tokens_, options_.beam);
  }

  void consume(const float *loglike) {
    if (result_.beam_died) return;
    Candidates candidates;
    const float best_before = least(tokens_);
    for (const uint32_t state : selected()) {
      ++result_.n_tokens;
      const Token &token = tokens_[state];
      const float relative = token.cost - best_before;
      for (uint32_t a = graph_.emitting_begin[state]; a < graph_.emitting_begin[state + 1]; ++a) {
        ++result_.n_arcs_expanded;
        const float score = loglike[graph_.pdf_of[graph_.arcs[a].transition_id]];
        const float scaled = -options_.acoustic_scale * score;
        if (!std::isfinite(scaled)) continue;
        const float cost = (relative + graph_cost(a)) + scaled;
        offer(candidates, a, {cost, a, token.last, -score});
      }
    }
    if (candidates.empty()) {
      result_.beam_died = true;
      return;
    }
    float best = candidates.begin()->second.cost;
    for (const auto &[state, c] : candidates) best = std::min(best, c.cost);
    const float bound = best + options_.beam;
    Tokens next;
    for (const auto &[state, c] : candidates) {
      if (c.cost <= bound) next[state] = {c.cost, c.arc, step(c)};
    }
    follow_epsilons(next, bound);
    tokens_ = next;
    ++result_.n_frames;
    if (result_.n_frames % kCutPeriod == 0 && result_.n_frames > kCutDistance) cut(result_.n_frames - kCutDistance);
  }

  const std::map<uint32_t, std::set<uint32_t>> &cut_states() const { return cut_states_; }

  uint64_t n_common_arcs() const {
    std::vector<Step> common;
    bool is_first = true;
    for (const auto &[state, token] : tokens_) {
      const std::vector<Step> path = steps_to(token.last);
      if (is_first) common = path;
      is_first = false;
      size_t n = 0;
      while (n < std::min(common.size(), path.size()) && common[n].arc == path[n].arc) ++n;
      common.resize(n);
    }
    const auto is_told = [this](const Step &s) {
      return graph_.arcs[s.arc].transition_id != 0 || graph_.arcs[s.arc].word != 0;
    };
    return static_cast<uint64_t>(std::count_if(common.begin(), common.end(), is_told));
  }

  SearchResult finish(bool use_final) {
    std::optional<uint32_t> best;
    float best_cost = 0;
    for (const bool with_final : {true, false}) {
      if (best || (with_final && !use_final)) continue;
      for (const auto &[state, token] : tokens_) {
        const float cost = token.cost + (with_final ? graph_.final_costs[state] : 0.0f);
        if (!std::isfinite(cost) || (best && cost >= best_cost)) continue;
        best = state;
        best_cost = cost;
        result_.reached_final = with_final;
      }
    }
    trace(tokens_[*best].last);
    if (result_.reached_final) result_.total_cost += graph_.final_costs[*best];
    return result_;
  }

 private:
  // Removes the tokens whose paths have another emitting arc in `frame` than the best token's.
  void cut(uint32_t frame) {
    const float best = least(tokens_);
    const auto is_best = [best](const auto &entry) { return entry.second.cost == best; };
    const uint32_t arc = emitting_arc(std::find_if(tokens_.begin(), tokens_.end(), is_best)->second.last, frame);
    for (auto at = tokens_.begin(); at != tokens_.end();) {
      const bool stays = emitting_arc(at->second.last, frame) == arc;
      if (!stays) cut_states_[result_.n_frames].insert(at->first);
      at = stays ? std::next(at) : tokens_.erase(at);
    }
  }

  // Returns the emitting arc number `frame`, from 1, of the path that ends with step `last`.
  uint32_t emitting_arc(uint32_t last, uint32_t frame) const {
    for (const Step &s : steps_to(last)) {
      if (graph_.arcs[s.arc].transition_id != 0 && --frame == 0) return s.arc;
    }
    return kNone;
  }

  static float least(const Tokens &tokens) {
    float best = tokens.begin()->second.cost;
    for (const auto &[state, token] : tokens) best = std::min(best, token.cost);
    return best;
  }

  float graph_cost(uint32_t a) const {
    const asr_graph_arc &arc = graph_.arcs[a];
    return arc.graph_cost + (arc.word != 0 ? options_.word_insertion_cost : 0.0f);
  }

  uint32_t step(const Candidate &c) {
    steps_.push_back({c.previous, c.arc, c.acoustic_cost});
    return static_cast<uint32_t>(steps_.size() - 1);
  }

  // Keeps the lower cost of a destination; at equal costs, the lower arc.
  void offer(Candidates &candidates, uint32_t a, const Candidate &c) const {
    const auto [at, is_new] = candidates.try_emplace(graph_.arcs[a].next_state, c);
    if (!is_new && (c.cost < at->second.cost || (c.cost == at->second.cost && a < at->second.arc))) at->second = c;
  }

  std::vector<uint32_t> selected() const {
    std::vector<std::pair<float, uint32_t>> order;
    for (const auto &[state, token] : tokens_) order.push_back({token.cost, state});
    std::sort(order.begin(), order.end());
    const float cutoff = order[0].first + options_.beam;
    size_t n = 0;
    while (n < order.size() && order[n].first <= cutoff) ++n;
    n = std::min<size_t>(n, std::max(options_.max_active, options_.min_active));
    n = std::max<size_t>(n, std::min<size_t>(options_.min_active, order.size()));
    std::vector<uint32_t> states;
    for (size_t i = 0; i < n; ++i) states.push_back(order[i].second);
    return states;
  }

  void follow_epsilons(Tokens &tokens, float bound) {
    Tokens fell = tokens;
    while (!fell.empty()) {
      Candidates candidates;
      for (const auto &[state, token] : fell) {
        for (uint32_t a = graph_.epsilon_begin[state]; a < graph_.epsilon_begin[state + 1]; ++a) {
          ++result_.n_arcs_expanded;
          const float cost = token.cost + graph_cost(a);
          if (cost <= bound) offer(candidates, a, {cost, a, token.last, 0.0f});
        }
      }
      fell.clear();
      for (const auto &[state, c] : candidates) {
        const auto at = tokens.find(state);
        if (at != tokens.end() && !(c.cost < at->second.cost)) continue;
        fell[state] = tokens[state] = {c.cost, c.arc, step(c)};
      }
    }
  }

  std::vector<Step> steps_to(uint32_t last) const {
    std::vector<Step> path;
    for (uint32_t s = last; s != kNone; s = steps_[s].previous) path.push_back(steps_[s]);
    std::reverse(path.begin(), path.end());
    return path;
  }

  void trace(uint32_t last) {
    uint32_t frame = 0;
    for (const Step &s : steps_to(last)) {
      const asr_graph_arc &arc = graph_.arcs[s.arc];
      result_.total_cost += double{arc.graph_cost} + double{options_.acoustic_scale} * double{s.acoustic_cost};
      if (arc.word != 0) result_.total_cost += double{options_.word_insertion_cost};
      if (arc.transition_id != 0 || arc.word != 0) {
        result_.arcs.push_back({frame, arc.transition_id, arc.word, arc.graph_cost, s.acoustic_cost});
      }
      if (arc.transition_id != 0) ++frame;
    }
  }

  const asr_graph_view &graph_;
  const asr_search_options options_;
  Tokens tokens_;
  std::vector<Step> steps_;
  std::map<uint32_t, std::set<uint32_t>> cut_states_;
  SearchResult result_;
};

}  // namespace

BestCost best_cost(const asr_graph_view &graph, const asr_search_options &options, const float *loglike, uint32_t n_frames,
                   bool use_final) {
  std::vector<double> cost(graph.n_states, kInfinity);
  cost[graph.start_state] = 0;
  relax_epsilons(graph, options, cost);
  for (uint32_t t = 0; t < n_frames; ++t) {
    std::vector<double> next(graph.n_states, kInfinity);
    for (uint32_t s = 0; s < graph.n_states; ++s) {
      for (uint32_t a = graph.emitting_begin[s]; a < graph.emitting_begin[s + 1]; ++a) {
        const asr_graph_arc &arc = graph.arcs[a];
        const double score = loglike[size_t{t} * graph.n_pdfs + graph.pdf_of[arc.transition_id]];
        const double word = arc.word != 0 ? options.word_insertion_cost : 0.0;
        const double through = cost[s] + arc.graph_cost + word - double{options.acoustic_scale} * score;
        next[arc.next_state] = std::min(next[arc.next_state], through);
      }
    }
    relax_epsilons(graph, options, next);
    cost = next;
  }
  double best = kInfinity, best_final = kInfinity;
  for (uint32_t s = 0; s < graph.n_states; ++s) {
    best = std::min(best, cost[s]);
    best_final = std::min(best_final, cost[s] + double{graph.final_costs[s]});
  }
  if (use_final && best_final < kInfinity) return {best_final, true};
  return {best, false};
}

std::vector<uint64_t> common_arcs(const asr_graph_view &graph, const asr_search_options &options, const float *loglike,
                                  uint32_t n_frames, uint32_t first) {
  PrunedSearch search(graph, options);
  std::vector<uint64_t> common;
  for (uint32_t t = 0;; ++t) {
    if (t >= first) common.push_back(search.n_common_arcs());
    if (t == n_frames) break;
    search.consume(loglike + size_t{t} * graph.n_pdfs);
  }
  return common;
}

std::map<uint32_t, std::set<uint32_t>> cut_states(const asr_graph_view &graph, const asr_search_options &options,
                                                  const float *loglike, uint32_t n_frames) {
  PrunedSearch search(graph, options);
  for (uint32_t t = 0; t < n_frames; ++t) search.consume(loglike + size_t{t} * graph.n_pdfs);
  return search.cut_states();
}

SearchResult pruned_search(const asr_graph_view &graph, const asr_search_options &options, const float *loglike,
                           uint32_t n_frames, bool use_final) {
  PrunedSearch search(graph, options);
  for (uint32_t t = 0; t < n_frames; ++t) search.consume(loglike + size_t{t} * graph.n_pdfs);
  return search.finish(use_final);
}

}  // namespace asr::reference
