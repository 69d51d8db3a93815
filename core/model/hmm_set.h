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
constexpr const char *kPositionEndings[] = {"_I", "_B", "_E", "_S"};  // of Kaldi's phones, by WordPosition

// Returns the position of phone i of a word of n phones.
constexpr WordPosition position_in_word(size_t i, size_t n) {
  const bool last = i + 1 == n;
  if (i == 0) return last ? WordPosition::kSingle : WordPosition::kBegin;
  return last ? WordPosition::kEnd : WordPosition::kInternal;
}

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

// Forms of a phone as a neighbour. In the same word the left neighbour begins it or is internal, and the right one ends it or
// is internal; in another word the left one ends it or is single, the right one begins it or is single. So a neighbour has one
// of two positions, kAtEdge standing for begin and end, kInside for internal and single. kBetweenWords is a phone outside of
// words.
enum class NeighbourForm : uint8_t { kAtEdge = 0, kInside = 1, kBetweenWords = 2 };

// The HMMs of a phone in one position, for models whose contexts tell positions of the neighbours apart (Kaldi).
struct PhoneContexts {
  uint32_t base;
  uint8_t position;  // WordPosition; kAnyPosition: in all that are not listed, and between words
  uint32_t n_right_classes = 0;
  std::vector<uint16_t> left_class, right_class;  // [3 * phones + 1]: by 3 * neighbour + form; last: no neighbour
  std::vector<uint32_t> hmms;                     // [left class][right class]
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
  std::vector<PhoneContexts> phone_contexts;  // instead of contexts: every neighbour with its position
  // The source's own transition-ids for graphs made elsewhere (Kaldi); [0] unused. Empty for other sources.
  std::vector<Transition> transitions;
  uint32_t n_pdfs = 0;

  // Returns false if transitions lead to pdfs that no HMM here has, because the source's context tree was not imported.
  // Such a model needs a graph made for the source; none can be built.
  bool knows_contexts() const;
  uint32_t find_phone(const std::string &name) const;  // kNoPhone if not found
  // Returns false if the model has other positions of a base phone, but not this one (a phone of Kaldi's without _S).
  bool has_position(uint32_t base, WordPosition position) const;
  uint64_t n_contexts() const;
  size_t n_neighbour_forms() const { return 3 * phones.size() + 1; }  // length of the classes of PhoneContexts
  void validate(const std::string &source) const;
};

// ContextTable finds the HMM of a phone in context. Listed contexts (HmmSet::contexts) have CMU Sphinx's back-off. The order
// is: exact, other word positions, silence as the context at an edge, context-independent. Without positions in the set the
// position is ignored. HmmSet::phone_contexts answer all questions themselves. Built once, used often.
//
// Neighbours are numbers below n_neighbours(). Listed contexts do not tell positions of neighbours apart: a neighbour is a base
// phone's number, or one number for all fillers and for the edges of the utterance; monophones do not, either. Else a base
// phone has two (NeighbourForm), silence between words has one, and so has the edge of the utterance.
class ContextTable {
 public:
  explicit ContextTable(const HmmSet &set);
  uint32_t neighbour(uint32_t phone, WordPosition position) const;  // a phone of a word
  uint32_t silence_neighbour() const { return silence_; }           // a filler between words
  uint32_t edge_neighbour() const { return edge_; }                 // where the utterance begins or ends
  uint32_t n_neighbours() const { return edge_ + 1; }
  bool tells_neighbours_positions() const { return tells_positions_; }

  // Returns the HMM between two neighbours. Numbers above n_neighbours() count as silence.
  uint32_t find_between(uint32_t base, uint32_t left, uint32_t right, WordPosition position) const;
  // The same by base phones (kNoPhone: any), for listed contexts.
  uint32_t find(uint32_t base, uint32_t left, uint32_t right, WordPosition position) const;

 private:
  const HmmSet &set_;
  std::unordered_map<uint64_t, uint32_t> hmm_of_;
  bool has_positions_ = false;
  bool tells_positions_ = false;  // false for HmmSet::phone_contexts of monophones, too
  uint32_t silence_ = 0, edge_ = 0;
  std::vector<const PhoneContexts *> in_position_;  // [4 * base + position]; NULL: not listed

  size_t form_of(uint32_t neighbour) const;
};

void write_hmm_set(const HmmSet &set, const FileAt &place);  // hmms.bin
HmmSet read_hmm_set(const std::string &path);                // validated

}  // namespace asr
