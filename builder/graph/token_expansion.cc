// SPDX-License-Identifier: Apache-2.0
// The expansion walks places of the lexical graph, each with what was heard last. A state of the result is one of
//   kToken     the frames of a token, with a loop; it was entered by the arc that has the token
//   kGarbage   the frames of any token, of speech that is no word
//   kBlank     blanks behind a token, or at the start, with a loop
//   kDelimiter the frames of the delimiter between words, with a loop
//   kPass      no frames: what may follow at a place, for states that share it
//   kWithout   as kPass, but without one token, which may not follow itself at once
// In CTC all that follows a token may follow at once or behind blanks, but the same token only behind blanks. Where it cannot
// follow anyway, which is nearly everywhere, kPass serves all tokens: the graph has the size of one for the compact topology.
#include "builder/graph/token_expansion.h"

#include <cmath>
#include <deque>
#include <numeric>
#include <unordered_map>

#include "builder/graph/compact.h"
#include "core/base/error.h"

namespace asr {
namespace {

// A place with more arcs is shared by an epsilon arc. Copies of fewer arcs are searched faster than the epsilon arc.
constexpr uint32_t kMaxCopiedArcs = 4;
// Tokens that may follow a place with more arcs are kept as a set.
constexpr uint32_t kManyArcs = 16;

enum class Kind : uint8_t { kToken, kGarbage, kBlank, kDelimiter, kPass, kWithout };

// Whether a delimiter can come here: only directly after a word and at the start. kEnd: it has not come, so that no word
// follows.
enum class Delimiter : uint8_t { kNot, kMay, kMust, kEnd };

struct TokenPlace {
  uint32_t state;  // of the lexical graph
  Kind kind;
  Delimiter delimiter;
  bool after_word;
  uint32_t label;  // kToken and kGarbage: its label; kWithout: that of the token that is left out; else 0

  bool operator==(const TokenPlace &o) const {
    return state == o.state && kind == o.kind && delimiter == o.delimiter && after_word == o.after_word && label == o.label;
  }
};

struct TokenPlaceHash {
  size_t operator()(const TokenPlace &p) const {
    const auto flags = static_cast<uint32_t>(p.kind) << 3 | static_cast<uint32_t>(p.delimiter) << 1 | uint32_t{p.after_word};
    return mix_hash(0, p.state, flags, p.label, 0);
  }
};

class TokenExpander {
 public:
  TokenExpander(const LexicalGraph &lexical, uint32_t n_roots, uint32_t n_tokens, const TokenFrames &frames)
      : lexical_(lexical), n_roots_(n_roots), n_tokens_(n_tokens), frames_(frames) {}

  Expansion run(const BuildProgress &progress) {
    const Delimiter at_start = has_delimiter() ? Delimiter::kMay : Delimiter::kNot;
    graph_.start = state_of({lexical_.start, has_blank() ? Kind::kBlank : Kind::kPass, at_start, true, 0});
    for (size_t done = 0; !todo_.empty(); ++done) {
      const auto [state, place] = todo_.front();
      todo_.pop_front();
      expand(state, place);
      if (graph_.arcs.size() > lexical_.max_expanded_arcs) {
        fail(ASR_UNSUPPORTED,
             "the grammar comes to more than %llu arcs with the frames of its tokens; let fewer words follow each other",
             static_cast<unsigned long long>(lexical_.max_expanded_arcs));
      }
      const size_t n_known = done + 1 + todo_.size();
      if (done % 65536 == 0) progress(double(done) / double(n_known), format("expanding tokens: %zu of %zu", done, n_known));
    }
    return {std::move(graph_), table_.transitions(), {}};
  }

 private:
  const LexicalGraph &lexical_;
  const uint32_t n_roots_, n_tokens_;
  const TokenFrames &frames_;
  StateGraph graph_;
  TransitionTable table_;
  std::unordered_map<TokenPlace, uint32_t, TokenPlaceHash> state_of_;
  std::deque<std::pair<uint32_t, TokenPlace>> todo_;
  std::unordered_map<uint32_t, std::vector<bool>> followers_;  // [lexical state with many arcs][token]

  bool has_blank() const { return frames_.blank != kNoToken; }
  bool has_delimiter() const { return frames_.delimiter != kNoToken; }

  const LexicalArc *first_arc(uint32_t place) const { return lexical_.arcs.data() + lexical_.begin[place]; }
  const LexicalArc *last_arc(uint32_t place) const { return first_arc(place) + lexical_.n_arcs[place]; }

  uint32_t state_of(const TokenPlace &place) {
    const auto [found, is_new] = state_of_.emplace(place, graph_.n_states());
    if (is_new) todo_.emplace_back(graph_.add_state(), place);
    return found->second;
  }

  void collect_followers(uint32_t place, std::vector<bool> *tokens) const {
    for (const LexicalArc *arc = first_arc(place); arc != last_arc(place); ++arc) {
      if (arc->label == kGarbageLabel) continue;
      if (arc->label == 0) {
        collect_followers(arc->next, tokens);
        continue;
      }
      const uint32_t token = label_phone(arc->label);
      if (token >= tokens->size()) tokens->resize(token + 1);
      (*tokens)[token] = true;
    }
  }

  // Returns whether a token of a word may be the next one at a place. What garbage repeats does not matter, as it has no words.
  bool may_follow(uint32_t token, uint32_t place) {
    if (lexical_.n_arcs[place] > kManyArcs) {
      const auto [known, is_new] = followers_.try_emplace(place);
      if (is_new) collect_followers(place, &known->second);
      return token < known->second.size() && known->second[token];
    }
    for (const LexicalArc *arc = first_arc(place); arc != last_arc(place); ++arc) {
      if (arc->label == kGarbageLabel) continue;
      if (arc->label == 0 ? may_follow(token, arc->next) : label_phone(arc->label) == token) return true;
    }
    return false;
  }

  uint32_t token_id(uint32_t label, bool self_loop) {
    const uint32_t token = label_phone(label);
    return table_.id({token, static_cast<uint8_t>(label_position(label)), 0, self_loop, token});
  }

  // A blank within a word is part of it, so that the word's time has no gap.
  uint32_t silent_id(uint32_t token, bool in_word, bool self_loop) {
    const uint8_t position = in_word ? static_cast<uint8_t>(WordPosition::kInternal) : kAnyPosition;
    return table_.id({token, position, 0, self_loop, token});
  }

  void expand(uint32_t state, const TokenPlace &place) {
    std::vector<StateArc> arcs;
    TokenPlace next = place;
    next.label = 0;
    if (place.kind == Kind::kToken || place.kind == Kind::kGarbage) {
      const bool is_word = place.kind == Kind::kToken;
      arcs.push_back({is_word ? token_id(place.label, true) : silent_id(label_phone(place.label), false, true), 0, 0, state});
      if (has_blank()) {
        next.kind = Kind::kBlank;
        arcs.push_back({silent_id(frames_.blank, !place.after_word, false), 0, 0, state_of(next)});
      }
      const bool may_repeat =
          is_word && frames_.topology == TokenTopology::kCtc && may_follow(label_phone(place.label), place.state);
      next.kind = may_repeat ? Kind::kWithout : Kind::kPass;
      if (may_repeat) next.label = phone_label(label_phone(place.label), WordPosition::kInternal);
    } else if (place.kind == Kind::kBlank) {
      arcs.push_back({silent_id(frames_.blank, !place.after_word, true), 0, 0, state});
      next.kind = Kind::kPass;
    } else if (place.kind == Kind::kDelimiter) {
      arcs.push_back({silent_id(frames_.delimiter, false, true), 0, 0, state});
      next.delimiter = Delimiter::kNot;
      next.kind = Kind::kBlank;
      if (has_blank()) arcs.push_back({silent_id(frames_.blank, false, false), 0, 0, state_of(next)});
      next.kind = Kind::kPass;
    } else {
      add_followers(place, &arcs);
      graph_.final_costs[state] = lexical_.final_costs[place.state];
      return graph_.set_arcs(state, arcs);
    }
    if (lexical_.n_arcs[place.state] <= kMaxCopiedArcs) {
      add_followers(next, &arcs);
    } else {
      arcs.push_back({0, 0, 0, state_of(next)});
    }
    graph_.final_costs[state] = lexical_.final_costs[place.state];
    graph_.set_arcs(state, arcs);
  }

  void add_garbage(const LexicalArc &arc, std::vector<StateArc> *arcs) {
    const float cost = arc.cost + on_cost_grid(std::log(static_cast<double>(n_tokens_)));
    for (uint32_t token = 0; token < n_tokens_; ++token) {
      if (token == frames_.blank || token == frames_.delimiter) continue;
      const Delimiter behind = has_delimiter() ? Delimiter::kMay : Delimiter::kNot;
      arcs->push_back({silent_id(token, false, false), 0, cost,
                       state_of({arc.next, Kind::kGarbage, behind, true, phone_label(token, WordPosition::kSingle)})});
    }
  }

  // Adds the ways to the end of the sentence that take no word.
  void add_ends(uint32_t root, std::vector<StateArc> *arcs) {
    for (const LexicalArc *arc = first_arc(root); arc != last_arc(root); ++arc) {
      if (arc->label == 0) {
        arcs->push_back({0, arc->word, arc->cost, state_of({arc->next, Kind::kPass, Delimiter::kEnd, true, 0})});
      }
    }
  }

  // Adds the arcs of a place of the kind kPass or kWithout.
  void add_followers(const TokenPlace &place, std::vector<StateArc> *arcs) {
    const bool is_root = place.state < n_roots_;
    if (is_root && (place.delimiter == Delimiter::kMay || place.delimiter == Delimiter::kMust)) {
      arcs->push_back({silent_id(frames_.delimiter, false, false), 0, 0,
                       state_of({place.state, Kind::kDelimiter, Delimiter::kNot, true, 0})});
    }
    if (is_root && place.delimiter >= Delimiter::kMust) return add_ends(place.state, arcs);
    const uint32_t without = place.kind == Kind::kWithout ? label_phone(place.label) : kNoToken;
    for (const LexicalArc *arc = first_arc(place.state); arc != last_arc(place.state); ++arc) {
      if (arc->label == 0) {
        const bool is_left_out = without != kNoToken && may_follow(without, arc->next);
        TokenPlace next = {arc->next, is_left_out ? Kind::kWithout : Kind::kPass, is_root ? Delimiter::kNot : place.delimiter,
                           place.after_word, is_left_out ? place.label : 0};
        arcs->push_back({0, arc->word, arc->cost, state_of(next)});
      } else if (arc->label == kGarbageLabel) {
        add_garbage(*arc, arcs);
      } else if (label_phone(arc->label) != without) {
        const bool ends = ends_word(arc->label);
        const Delimiter behind = !has_delimiter() || !ends ? Delimiter::kNot
                                 : frames_.needs_delimiter ? Delimiter::kMust
                                                           : Delimiter::kMay;
        arcs->push_back(
            {token_id(arc->label, false), arc->word, arc->cost, state_of({arc->next, Kind::kToken, behind, ends, arc->label})});
      }
    }
  }
};

}  // namespace

Expansion expand_tokens(const LexicalGraph &lexical, uint32_t n_roots, uint32_t n_tokens, const TokenFrames &frames,
                        const BuildProgress &progress) {
  return TokenExpander(lexical, n_roots, n_tokens, frames).run(progress);
}

// The compact topology, in which every token may follow every one, as here a token that follows itself is the same as one that
// lasts longer.
GraphData make_token_loop(const TokenFrames &frames, uint32_t n_tokens) {
  StateGraph graph;
  TransitionTable table;
  graph.start = graph.add_state();
  const bool has_blank = frames.blank != kNoToken;
  std::vector<StateArc> arcs;
  const auto id = [&](uint32_t token, bool self_loop) { return table.id({token, kAnyPosition, 0, self_loop, token}); };
  if (has_blank) arcs.push_back({id(frames.blank, true), 0, 0, graph.start});
  const float cost = on_cost_grid(std::log(static_cast<double>(n_tokens)));
  for (uint32_t token = 0; token < n_tokens; ++token) {
    if (token == frames.blank) continue;
    const uint32_t state = graph.add_state();
    arcs.push_back({id(token, false), token + 1, cost, state});
    graph.final_costs[state] = 0;
    graph.set_arcs(state, {{id(token, true), 0, 0, state}, {0, 0, 0, graph.start}});
  }
  graph.set_arcs(graph.start, arcs);
  graph.final_costs[graph.start] = 0;
  std::vector<uint32_t> states(graph.n_states());
  std::iota(states.begin(), states.end(), 0u);
  return pack(std::move(graph), std::move(states), table.transitions(), n_tokens, n_tokens + 1);
}

}  // namespace asr
