// SPDX-License-Identifier: Apache-2.0
// HmmSet holds the hidden Markov models of an acoustic model: phones, topologies, context-dependent HMMs and the transition-ids
// of graph arcs. Importers fill one, the bundle stores one (hmms.bin), the graph builder reads it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/file.h"

namespace asr {

constexpr uint32_t kNoPhone = 0xffffffffu;

enum class WordPosition : uint8_t { kInternal = 0, kBegin = 1, kEnd = 2, kSingle = 3 };
constexpr uint8_t kAnyPosition = 0xff;

// Emitting states 0 .. n_states-1; destination n_states is the exit. Costs are -ln p.
struct TopologyArc {
  uint32_t from;  // kEntry for arcs that enter the model
  uint32_t to;
  float cost;
};
constexpr uint32_t kEntry = 0xffffffffu;

struct Topology {
  uint32_t n_states = 0;
  std::vector<TopologyArc> arcs;  // sorted by (from, to), entry arcs last; an entry arc to n_states makes a tee model
};

struct Hmm {
  uint32_t topology = 0;
  std::vector<uint32_t> pdfs;  // [topology.n_states]
};

// A logical context-dependent phone. left/right: base phones or kNoPhone for "any". position: WordPosition or kAnyPosition.
struct ContextPhone {
  uint32_t base, left, right;
  uint8_t position;
  uint32_t hmm;
};

struct BasePhone {
  std::string name;
  bool filler = false;
  uint32_t hmm = 0;  // context-independent model
};

// The meaning of a transition-id. It includes the word position, so that word boundaries can be read off any path.
struct Transition {
  uint32_t phone;    // base phone
  uint8_t position;  // WordPosition; kAnyPosition for fillers, and if the source has no positions
  uint16_t hmm_state;
  bool self_loop;
  uint32_t pdf;
};

struct HmmSet {
  std::vector<BasePhone> phones;
  uint32_t silence = kNoPhone;  // the phone that replaces fillers in a context
  std::vector<Topology> topologies;
  std::vector<Hmm> hmms;
  std::vector<ContextPhone> contexts;
  // The source's own transition-ids for graphs made elsewhere (Kaldi); [0] unused. Empty for other sources.
  std::vector<Transition> transitions;
  uint32_t n_pdfs = 0;

  // Returns false if transitions lead to pdfs that no HMM here has, because the source's context tree was not imported.
  // Such a model needs a graph made for the source; none can be built.
  bool knows_contexts() const;
  uint32_t find_phone(const std::string &name) const;  // kNoPhone if not found
  void validate(const std::string &source) const;
};

// ContextTable finds the HMM of a phone in context, with CMU Sphinx's back-off. The order is: exact, other word positions,
// silence as the context at an edge, context-independent. Without positions in the set the position is ignored. Built once,
// used often.
class ContextTable {
 public:
  explicit ContextTable(const HmmSet &set);
  uint32_t find(uint32_t base, uint32_t left, uint32_t right, WordPosition position) const;

 private:
  const HmmSet &set_;
  std::unordered_map<uint64_t, uint32_t> hmm_of_;
  bool has_positions_ = false;
};

void write_hmm_set(const HmmSet &set, const FileAt &place);  // hmms.bin
HmmSet read_hmm_set(const std::string &path);                // validated

}  // namespace asr
