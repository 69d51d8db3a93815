// SPDX-License-Identifier: Apache-2.0
#include "builder/ctc/phrase_graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr char kMagic[8] = {'S', 'E', 'N', 'P', 'H', 'R', '0', '1'};

// The automaton while it is made: arcs with tokens, and which states are final.
struct Automaton {
  uint32_t start = 0;
  std::vector<PhraseArc> arcs;
  std::vector<bool> is_final;
  size_t n_states() const { return is_final.size(); }
};

void check(uint32_t n_tokens, uint32_t blank, const std::vector<PhraseArc> &arcs, const std::vector<int32_t> &finals,
           const std::string &source) {
  const char *const name = source.c_str();
  if (n_tokens == 0 || n_tokens > kMaxPdfs || blank > kMaxPdfs) {
    fail(ASR_INVALID_ARGUMENT, "%s: %u tokens and the blank %u; a network has 1 to %u tokens, numbered from 0", name, n_tokens,
         blank, kMaxPdfs);
  }
  if (arcs.size() > kMaxJoinedArcs) fail(ASR_UNSUPPORTED, "%s: %zu arcs; the most are %u", name, arcs.size(), kMaxJoinedArcs);
  for (size_t i = 0; i < arcs.size(); ++i) {
    const PhraseArc &arc = arcs[i];
    for (const int32_t state : {arc.from, arc.to}) {
      if (state < 0 || static_cast<uint32_t>(state) >= kMaxJoinedStates) {
        fail(ASR_INVALID_ARGUMENT, "%s: arc %zu: %d is no state; states are numbered 0 to %u", name, i, state,
             kMaxJoinedStates - 1);
      }
    }
    if (arc.token > static_cast<int64_t>(n_tokens)) {
      fail(ASR_INVALID_ARGUMENT, "%s: arc %zu has the token %d of %u; correct it, or the number of tokens", name, i, arc.token,
           n_tokens);
    }
    if (arc.token == static_cast<int64_t>(blank)) {
      fail(ASR_INVALID_ARGUMENT, "%s: arc %zu has the blank %u as its token; CTC puts blanks in by itself, so leave it out",
           name, i, blank);
    }
    if (arc.token < 0 && arc.id >= 0) {
      fail(ASR_UNSUPPORTED, "%s: arc %zu has the id %d without a token; put the id on an arc that has one", name, i, arc.id);
    }
  }
  for (const int32_t state : finals) {
    if (state < 0 || static_cast<uint32_t>(state) >= kMaxJoinedStates) {
      fail(ASR_INVALID_ARGUMENT, "%s: the final state %d is none; states are numbered 0 to %u", name, state,
           kMaxJoinedStates - 1);
    }
  }
}

// Numbers the states that arcs and finals name from 0 on, so that memory does not depend on how large their numbers are.
void renumber_states(std::vector<PhraseArc> *arcs, std::vector<int32_t> *finals) {
  std::vector<int32_t> names{0};
  for (const PhraseArc &arc : *arcs) names.insert(names.end(), {arc.from, arc.to});
  names.insert(names.end(), finals->begin(), finals->end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto number = [&](int32_t state) {
    return static_cast<int32_t>(std::lower_bound(names.begin(), names.end(), state) - names.begin());
  };
  for (PhraseArc &arc : *arcs) arc.from = number(arc.from), arc.to = number(arc.to);
  for (int32_t &state : *finals) state = number(state);
}

// Returns the arcs grouped by the state that `side` takes of an arc: places [states + 1] of arc numbers.
struct Grouped {
  std::vector<uint32_t> first, arc;
};
Grouped group(const std::vector<PhraseArc> &arcs, size_t n_states, int32_t PhraseArc::*side) {
  Grouped grouped{std::vector<uint32_t>(n_states + 1), std::vector<uint32_t>(arcs.size())};
  for (const PhraseArc &arc : arcs) ++grouped.first[arc.*side + 1];
  for (size_t s = 0; s < n_states; ++s) grouped.first[s + 1] += grouped.first[s];
  std::vector<uint32_t> next(grouped.first.begin(), grouped.first.end() - 1);
  for (size_t i = 0; i < arcs.size(); ++i) grouped.arc[next[arcs[i].*side]++] = static_cast<uint32_t>(i);
  return grouped;
}

// Returns the automaton without arcs that have no token: a state has the arcs of all states that such arcs lead to.
Automaton without_epsilons(const std::vector<PhraseArc> &arcs, const std::vector<int32_t> &finals) {
  int32_t n = 1;
  for (const PhraseArc &arc : arcs) n = std::max({n, arc.from + 1, arc.to + 1});
  for (const int32_t state : finals) n = std::max(n, state + 1);
  Automaton result;
  result.is_final.resize(n);
  for (const int32_t state : finals) result.is_final[state] = true;
  const std::vector<bool> is_final = result.is_final;
  const Grouped out = group(arcs, n, &PhraseArc::from);
  std::vector<int32_t> seen(n, -1), reached;
  for (int32_t state = 0; state < n; ++state) {
    reached.assign(1, state);
    seen[state] = state;
    for (size_t k = 0; k < reached.size(); ++k) {
      const int32_t at = reached[k];
      if (is_final[at]) result.is_final[state] = true;
      for (uint32_t i = out.first[at]; i < out.first[at + 1]; ++i) {
        const PhraseArc &arc = arcs[out.arc[i]];
        if (arc.token >= 0) {
          result.arcs.push_back({state, arc.to, arc.token, std::max(arc.id, -1)});
        } else if (seen[arc.to] != state) {
          seen[arc.to] = state;
          reached.push_back(arc.to);
        }
      }
      if (result.arcs.size() > kMaxJoinedArcs) {
        fail(ASR_UNSUPPORTED, "phrases: without the arcs that have no token there are more than %u; remove some of those",
             kMaxJoinedArcs);
      }
    }
  }
  return result;
}

void mark(const Automaton &a, const Grouped &grouped, int32_t PhraseArc::*far, std::vector<uint32_t> states,
          std::vector<bool> *is_marked) {
  for (const uint32_t state : states) (*is_marked)[state] = true;
  while (!states.empty()) {
    const uint32_t state = states.back();
    states.pop_back();
    for (uint32_t i = grouped.first[state]; i < grouped.first[state + 1]; ++i) {
      const uint32_t next = a.arcs[grouped.arc[i]].*far;
      if ((*is_marked)[next]) continue;
      (*is_marked)[next] = true;
      states.push_back(next);
    }
  }
}

// Gives the states new numbers, those of `class_of`, and removes repeated arcs.
Automaton renumbered(const Automaton &a, const std::vector<uint32_t> &class_of, uint32_t n_classes) {
  Automaton result;
  result.start = class_of[a.start];
  result.is_final.resize(n_classes);
  for (size_t s = 0; s < a.n_states(); ++s) {
    if (class_of[s] < n_classes && a.is_final[s]) result.is_final[class_of[s]] = true;
  }
  const auto key = [](const PhraseArc &arc) { return std::tie(arc.from, arc.to, arc.token, arc.id); };
  for (const PhraseArc &arc : a.arcs) {
    const uint32_t from = class_of[arc.from], to = class_of[arc.to];
    if (from < n_classes && to < n_classes) {
      result.arcs.push_back({static_cast<int32_t>(from), static_cast<int32_t>(to), arc.token, arc.id});
    }
  }
  std::sort(result.arcs.begin(), result.arcs.end(), [&](const auto &x, const auto &y) { return key(x) < key(y); });
  result.arcs.erase(
      std::unique(result.arcs.begin(), result.arcs.end(), [&](const auto &x, const auto &y) { return key(x) == key(y); }),
      result.arcs.end());
  return result;
}

// Keeps the states on paths from the start to a final state; the start always.
Automaton trimmed(const Automaton &a) {
  std::vector<bool> is_reached(a.n_states()), leads_on(a.n_states());
  std::vector<uint32_t> finals;
  for (uint32_t s = 0; s < a.n_states(); ++s) {
    if (a.is_final[s]) finals.push_back(s);
  }
  mark(a, group(a.arcs, a.n_states(), &PhraseArc::from), &PhraseArc::to, {a.start}, &is_reached);
  mark(a, group(a.arcs, a.n_states(), &PhraseArc::to), &PhraseArc::from, finals, &leads_on);
  std::vector<uint32_t> number(a.n_states(), 0xffffffff);
  uint32_t n = 0;
  for (uint32_t s = 0; s < a.n_states(); ++s) {
    if ((is_reached[s] && leads_on[s]) || s == a.start) number[s] = n++;
  }
  return renumbered(a, number, n);
}

// Returns the states in an order in which those on the far side of a state's arcs come before it, or nothing if there are
// loops.
std::vector<uint32_t> ordered(const Automaton &a, int32_t PhraseArc::*near, int32_t PhraseArc::*far) {
  const Grouped backwards = group(a.arcs, a.n_states(), far);
  std::vector<uint32_t> n_waiting(a.n_states()), order;
  for (const PhraseArc &arc : a.arcs) ++n_waiting[arc.*near];
  for (uint32_t s = 0; s < a.n_states(); ++s) {
    if (n_waiting[s] == 0) order.push_back(s);
  }
  for (size_t k = 0; k < order.size(); ++k) {
    for (uint32_t i = backwards.first[order[k]]; i < backwards.first[order[k] + 1]; ++i) {
      const uint32_t state = a.arcs[backwards.arc[i]].*near;
      if (--n_waiting[state] == 0) order.push_back(state);
    }
  }
  if (order.size() < a.n_states()) order.clear();
  return order;
}

// Joins states whose arcs on one side are the same: with near = from those that the same phrases continue, with near = to those
// that the same phrases lead to. Either keeps the set of phrases. An automaton with loops stays as it is.
Automaton joined(const Automaton &a, int32_t PhraseArc::*near, int32_t PhraseArc::*far) {
  const std::vector<uint32_t> order = ordered(a, near, far);
  if (order.empty()) return a;
  const bool is_forward = near == &PhraseArc::from;
  const Grouped grouped = group(a.arcs, a.n_states(), near);
  std::map<std::vector<int32_t>, uint32_t> classes;
  std::vector<uint32_t> class_of(a.n_states());
  std::vector<std::tuple<int32_t, int32_t, int32_t>> sides;
  for (const uint32_t s : order) {
    sides.clear();
    for (uint32_t i = grouped.first[s]; i < grouped.first[s + 1]; ++i) {
      const PhraseArc &arc = a.arcs[grouped.arc[i]];
      sides.emplace_back(arc.token, arc.id, static_cast<int32_t>(class_of[arc.*far]));
    }
    std::sort(sides.begin(), sides.end());
    sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
    std::vector<int32_t> key{is_forward ? static_cast<int32_t>(a.is_final[s]) : static_cast<int32_t>(s == a.start)};
    for (const auto &[token, id, state] : sides) key.insert(key.end(), {token, id, state});
    class_of[s] = classes.emplace(std::move(key), static_cast<uint32_t>(classes.size())).first->second;
  }
  return renumbered(a, class_of, static_cast<uint32_t>(classes.size()));
}

// Returns the automaton in which no two arcs of a state have the same token and id, if it is not much larger than `a`; else
// `a`.
Automaton deterministic(const Automaton &a) {
  const size_t most = kBaseDeterministicStates + size_t{kMaxDeterministicRatio} * (a.n_states() + a.arcs.size());
  const Grouped out = group(a.arcs, a.n_states(), &PhraseArc::from);
  Automaton result;
  std::map<std::vector<uint32_t>, uint32_t> numbers{{{a.start}, 0}};
  std::vector<const std::vector<uint32_t> *> subsets{&numbers.begin()->first};
  size_t n_members = 0;
  for (size_t at = 0; at < subsets.size(); ++at) {
    std::map<std::pair<int32_t, int32_t>, std::vector<uint32_t>> next;
    bool is_final = false;
    for (const uint32_t state : *subsets[at]) {
      is_final = is_final || a.is_final[state];
      for (uint32_t i = out.first[state]; i < out.first[state + 1]; ++i) {
        const PhraseArc &arc = a.arcs[out.arc[i]];
        next[{arc.token, arc.id}].push_back(static_cast<uint32_t>(arc.to));
      }
    }
    result.is_final.push_back(is_final);
    for (auto &[label, states] : next) {
      std::sort(states.begin(), states.end());
      states.erase(std::unique(states.begin(), states.end()), states.end());
      n_members += states.size();
      const auto [found, is_new] = numbers.emplace(std::move(states), static_cast<uint32_t>(subsets.size()));
      if (is_new) subsets.push_back(&found->first);
      result.arcs.push_back({static_cast<int32_t>(at), static_cast<int32_t>(found->second), label.first, label.second});
    }
    if (n_members > most || result.arcs.size() > kMaxJoinedArcs) return a;
  }
  return result;
}

// Finds the arcs that are the only way on. It takes an automaton whose ids are its tokens, and in which they tell arcs apart.
void mark_decisions(const Automaton &a, const std::vector<PhraseArc> &arcs, PhraseGraph *graph) {
  if (std::any_of(arcs.begin(), arcs.end(), [](const PhraseArc &arc) { return arc.id != arc.token; })) return;
  std::vector<uint32_t> n_out(a.n_states());
  for (const PhraseArc &arc : arcs) ++n_out[arc.from];
  for (size_t i = 0; i < arcs.size(); ++i) graph->arcs[i].decides = n_out[arcs[i].from] > 1 || a.is_final[arcs[i].from];
}

PhraseGraph finished(uint32_t n_tokens, uint32_t blank, const Automaton &a) {
  PhraseGraph graph;
  graph.n_tokens = n_tokens;
  graph.blank = blank;
  graph.start = a.start;
  std::vector<PhraseArc> arcs = a.arcs;
  const auto key = [](const PhraseArc &arc) { return std::tie(arc.to, arc.token, arc.from, arc.id); };
  std::sort(arcs.begin(), arcs.end(), [&](const auto &x, const auto &y) { return key(x) < key(y); });
  graph.first_cell.assign(a.n_states() + 1, 0);
  for (size_t i = 0; i < arcs.size(); ++i) {
    const auto state = static_cast<uint32_t>(arcs[i].to), token = static_cast<uint32_t>(arcs[i].token);
    if (graph.cells.empty() || graph.cells.back().state != state || graph.cells.back().token != token) {
      graph.cells.push_back({state, token, static_cast<uint32_t>(i)});
      ++graph.first_cell[state + 1];
    }
    graph.arcs.push_back({static_cast<uint32_t>(arcs[i].from), arcs[i].id, PhraseGraph::kNoCell, true});
  }
  for (size_t s = 0; s < a.n_states(); ++s) graph.first_cell[s + 1] += graph.first_cell[s];
  graph.cells.push_back({0, 0, static_cast<uint32_t>(arcs.size())});
  for (size_t i = 0; i < arcs.size(); ++i) {
    const uint32_t from = graph.arcs[i].from;
    for (uint32_t c = graph.first_cell[from]; c < graph.first_cell[from + 1]; ++c) {
      if (graph.cells[c].token == static_cast<uint32_t>(arcs[i].token)) graph.arcs[i].own_cell = c;
    }
  }
  for (uint32_t s = 0; s < a.n_states(); ++s) {
    if (a.is_final[s]) graph.finals.push_back(s);
  }
  mark_decisions(a, arcs, &graph);
  return graph;
}

}  // namespace

PhraseGraph make_phrase_graph(uint32_t n_tokens, uint32_t blank, std::vector<PhraseArc> arcs, std::vector<int32_t> finals,
                              const std::string &source) {
  check(n_tokens, blank, arcs, finals, source);
  renumber_states(&arcs, &finals);
  Automaton automaton = trimmed(without_epsilons(arcs, finals));
  if (std::none_of(automaton.is_final.begin(), automaton.is_final.end(), [](bool is_final) { return is_final; })) {
    fail(ASR_INVALID_ARGUMENT, "%s: no path leads from state 0 to a final state, so nothing can be said; correct the arcs",
         source.c_str());
  }
  automaton = joined(deterministic(automaton), &PhraseArc::to, &PhraseArc::from);
  automaton = joined(automaton, &PhraseArc::from, &PhraseArc::to);
  PhraseGraph graph = finished(n_tokens, blank, automaton);
  std::vector<bool> is_used(size_t{n_tokens} + 1);
  for (const PhraseArc &arc : arcs) {
    if (arc.token >= 0) is_used[arc.token] = true;
  }
  for (uint32_t token = 0; token <= n_tokens; ++token) {
    if (is_used[token]) graph.tokens.push_back(token);
  }
  return graph;
}

// A file has kMagic, then 32-bit numbers: tokens, blank, start, states, arcs, finals, the arcs (from, to, token, id), the
// finals and, behind a number that fills up eight bytes if need be, the checksum of all before it. Tokens that no phrase has
// are on arcs from a state of their own to itself.
void write_phrase_graph(const PhraseGraph &graph, const std::string &path) {
  std::vector<uint32_t> unused = graph.tokens;
  for (size_t c = 0; c < graph.n_cells(); ++c) {
    const auto found = std::lower_bound(unused.begin(), unused.end(), graph.cells[c].token);
    if (found != unused.end() && *found == graph.cells[c].token) unused.erase(found);
  }
  const auto n_states = static_cast<int32_t>(graph.n_states());
  std::vector<int32_t> numbers{static_cast<int32_t>(graph.n_tokens),
                               static_cast<int32_t>(graph.blank),
                               static_cast<int32_t>(graph.start),
                               n_states,
                               static_cast<int32_t>(graph.arcs.size() + unused.size()),
                               static_cast<int32_t>(graph.finals.size())};
  for (size_t c = 0; c < graph.n_cells(); ++c) {
    for (uint32_t i = graph.cells[c].first_arc; i < graph.cells[c + 1].first_arc; ++i) {
      numbers.insert(numbers.end(), {static_cast<int32_t>(graph.arcs[i].from), static_cast<int32_t>(graph.cells[c].state),
                                     static_cast<int32_t>(graph.cells[c].token), graph.arcs[i].id});
    }
  }
  for (const uint32_t token : unused) {
    numbers.insert(numbers.end(), {n_states, n_states, static_cast<int32_t>(token), static_cast<int32_t>(token)});
  }
  numbers.insert(numbers.end(), graph.finals.begin(), graph.finals.end());
  if (numbers.size() % 2 != 0) numbers.push_back(0);
  const uint64_t sum = checksum(numbers.data(), 4 * numbers.size());
  OutputFile file(path);
  file.write(kMagic, sizeof(kMagic));
  file.write(numbers.data(), 4 * numbers.size());
  file.write(&sum, sizeof(sum));
  file.commit();
}

PhraseGraph read_phrase_graph(const std::string &path) {
  const std::string bytes = read_file(path);
  const char *const name = path.c_str();
  constexpr size_t kHead = 6;
  if (bytes.size() < sizeof(kMagic) || memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    fail(ASR_BAD_FILE, "%s: is no grammar that asr_ctc_grammar_save wrote; make it again from its arcs", name);
  }
  const size_t n = (bytes.size() - sizeof(kMagic)) / 4;
  std::vector<int32_t> numbers(n);
  if (n > 0) memcpy(numbers.data(), bytes.data() + sizeof(kMagic), 4 * n);
  uint64_t sum = 0;
  if (n >= kHead + 2) memcpy(&sum, numbers.data() + n - 2, sizeof(sum));
  if (n < kHead + 2 || n % 2 != 0 || bytes.size() % 4 != 0 || sum != checksum(numbers.data(), 4 * (n - 2))) {
    fail(ASR_BAD_FILE, "%s: is damaged or cut short; save the grammar again", name);
  }
  const uint64_t n_arcs = static_cast<uint32_t>(numbers[4]), n_finals = static_cast<uint32_t>(numbers[5]);
  if ((kHead + 4 * n_arcs + n_finals + 1) / 2 * 2 + 2 != n) fail(ASR_BAD_FILE, "%s: is damaged; save the grammar again", name);
  std::vector<PhraseArc> arcs(n_arcs);
  if (n_arcs > 0) memcpy(arcs.data(), numbers.data() + kHead, sizeof(PhraseArc) * n_arcs);
  if (std::any_of(arcs.begin(), arcs.end(), [](const PhraseArc &arc) { return arc.token < 0; })) {
    fail(ASR_BAD_FILE, "%s: has an arc without a token; it is damaged: save the grammar again", name);
  }
  const auto finals = numbers.begin() + static_cast<std::ptrdiff_t>(kHead + 4 * n_arcs);
  // Arcs begin in state 0, and those of this graph may not: the two numbers are exchanged.
  const int32_t start = numbers[2];
  const auto exchanged = [start](int32_t state) { return state == start ? 0 : state == 0 ? start : state; };
  std::vector<int32_t> final_states(finals, finals + static_cast<std::ptrdiff_t>(n_finals));
  for (PhraseArc &arc : arcs) arc.from = exchanged(arc.from), arc.to = exchanged(arc.to);
  for (int32_t &state : final_states) state = exchanged(state);
  return make_phrase_graph(static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1]), arcs, final_states, path);
}

}  // namespace asr
