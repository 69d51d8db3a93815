// SPDX-License-Identifier: Apache-2.0
// Reads Kaldi's .mdl file, the transition model and the Gaussian mixtures, and converts them to Senone's types. Called by
// kaldi.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "builder/import/kaldi_io.h"
#include "core/model/acoustic_model.h"
#include "core/model/hmm_set.h"

namespace asr::kaldi {

class Tree;

struct TopologyArc {
  uint32_t to;
  float probability;
};

struct TopologyState {
  int32_t forward_class = -1, self_loop_class = -1;  // pdf classes; -1: not emitting
  std::vector<TopologyArc> arcs;
};

using TopologyEntry = std::vector<TopologyState>;  // the last state is the exit

// A transition-state: one distinct (phone, HMM state, pdfs) of the tree.
struct TransitionState {
  uint32_t phone, hmm_state, forward_pdf, self_loop_pdf;
};

// Transition-id i belongs to transition-state `state` (an index) and is arc `arc` of its topology state.
struct TransitionId {
  uint32_t state, arc;
};

struct TransitionModel {
  std::vector<TopologyEntry> entries;
  std::vector<int32_t> entry_of;  // [phone]; -1: no such phone
  std::vector<TransitionState> states;
  std::vector<TransitionId> ids;  // [n_transition_ids + 1]; [0] unused
  std::vector<float> log_probs;   // [n_transition_ids + 1]
  uint32_t n_pdfs = 0;

  const TopologyState &topology_state(const TransitionState &s) const {
    return entries[static_cast<size_t>(entry_of[s.phone])][s.hmm_state];
  }
  bool is_self_loop(uint32_t id) const {
    const TransitionState &s = states[ids[id].state];
    return topology_state(s).arcs[ids[id].arc].to == s.hmm_state;
  }
};

struct Model {
  TransitionModel transitions;
  AcousticModel acoustic;
};

TransitionModel read_transition_model(ObjectReader &reader);
AcousticModel read_gmms(ObjectReader &reader, const std::string &path);
Model read_model(const std::string &path);
TransitionModel read_transitions(const std::string &path);  // of any model, whatever computes its log-likelihoods

// Positions in words by Kaldi's phone number; kAnyPosition: outside of words.
using WordBoundaries = std::map<uint32_t, uint8_t>;

// Reads word_boundary.int or word_boundary.txt: lines of a phone, by number or name, and nonword, begin, end, internal or
// singleton. Throws naming the line if a phone is not in `phone_names`, or if its name lacks the ending of its position.
WordBoundaries read_word_boundaries(const std::string &path, const std::vector<std::string> &phone_names);

// Returns the HMMs and the meaning of the transition-ids. phone_names: by Kaldi's phone number, empty = the number is the name.
// Phones that exist with all of the endings _B _E _I _S become one base phone in four word positions, or those of which
// `boundaries` says so. tree: NULL = contexts stay unknown.
HmmSet make_hmm_set(const TransitionModel &model, const std::vector<std::string> &phone_names, const std::string &source,
                    const Tree *tree = nullptr, const WordBoundaries *boundaries = nullptr);

}  // namespace asr::kaldi
