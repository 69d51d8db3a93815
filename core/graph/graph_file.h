// SPDX-License-Identifier: Apache-2.0
// The layout of graph.bin, shared by its writer and its reader (graph.cc). Described in docs/graph-file.md.
#pragma once

#include <cstdint>

namespace asr::graph_file {

constexpr char kMagic[8] = {'S', 'N', 'G', 'R', 'A', 'P', 'H', '\n'};
constexpr uint32_t kVersion = 1;
constexpr uint64_t kAlignment = 64;

enum Section { kEmittingBegin, kEpsilonBegin, kArcs, kFinalCosts, kTransitions, kNumSections };
constexpr const char *kSectionNames[kNumSections] = {"emitting_begin", "epsilon_begin", "arcs", "final_costs", "transitions"};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_size;
  uint32_t n_states, start_state;
  uint32_t n_transition_ids, n_pdfs, n_words;
  uint32_t reserved;  // 0
  uint64_t n_arcs;
  uint64_t file_size;
  uint64_t offsets[kNumSections];  // of the sections, in this order, each a multiple of kAlignment
};
static_assert(sizeof(Header) == 96);

struct TransitionRecord {
  uint32_t phone, pdf;
  uint16_t hmm_state;
  uint8_t position, self_loop;
};
static_assert(sizeof(TransitionRecord) == 12);

}  // namespace asr::graph_file
