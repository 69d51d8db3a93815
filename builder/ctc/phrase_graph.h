// SPDX-License-Identifier: Apache-2.0
// PhraseGraph is a grammar of token sequences for PhraseSearch: an automaton over the tokens of a CTC network, without costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr {

struct PhraseArc {
  int32_t from, to, token, id;  // token, id: negative for none
};

struct PhraseGraph {
  // A cell is a state together with the token by which it was reached: what CTC has to know to tell a repeated token from a
  // token that lasts. Arcs are sorted by cell.
  struct Cell {
    uint32_t state;
    uint32_t token;
    uint32_t first_arc;
  };
  struct Arc {
    uint32_t from;
    int32_t id;         // negative for none
    uint32_t own_cell;  // the cell of `from` with the arc's token, from which CTC asks for a blank; kNoCell if it has none
    bool decides;       // false if the arcs before allow no other id here
  };
  static constexpr uint32_t kNoCell = 0xffffffff;

  uint32_t n_tokens = 0, blank = 0;
  uint32_t start = 0;
  std::vector<uint32_t> first_cell;  // [states + 1]
  std::vector<Cell> cells;           // [cells + 1]; by state
  std::vector<Arc> arcs;
  std::vector<uint32_t> finals;  // states, ascending
  std::vector<uint32_t> tokens;  // distinct tokens of all arcs that were given, ascending: those that a beam compares

  size_t n_states() const { return first_cell.size() - 1; }
  size_t n_cells() const { return cells.size() - 1; }
};

// Makes a graph of arcs that begin in state 0. Arcs without a token are followed without a frame. The graph is deterministic
// and minimal, unless that would make it larger; with loops it is not minimal. `source` names the grammar in messages. Throws
// asr::Error.
PhraseGraph make_phrase_graph(uint32_t n_tokens, uint32_t blank, std::vector<PhraseArc> arcs, std::vector<int32_t> finals,
                              const std::string &source);

void write_phrase_graph(const PhraseGraph &graph, const std::string &path);
PhraseGraph read_phrase_graph(const std::string &path);

}  // namespace asr
