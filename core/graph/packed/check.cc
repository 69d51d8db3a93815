// SPDX-License-Identifier: Apache-2.0
// Checks packed graphs in two passes. The first decodes every record and marks its offset; the second compares every arc with
// its next state. Both process chunks of records in parallel. Chunks begin at the offsets in first_records, and each must end
// where the next one begins. Together they cover all records, from the first to the last.
#include "core/graph/packed/check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/graph/packed/marked_places.h"

namespace asr {
namespace {

bool is_finite(float cost) { return std::abs(cost) <= std::numeric_limits<float>::max(); }

constexpr uint64_t kChunkBlocks = (uint64_t{4} << 20) / (uint64_t{4} * asr_packed_graph::kBlockUnits);  // 4 MB

// The records from one offset to before another.
struct Chunk {
  uint64_t begin, end;
};

struct Counts {
  uint64_t states = 0, arcs = 0, emitting = 0;
};

class Checker {
 public:
  Checker(const asr_packed_graph &graph, const std::string &path)
      : graph_(graph),
        path_(path),
        pdf_mask_(graph.pdf_mask()),
        pdf_bits_(graph.pdf_bits()),
        own_cost_(graph.own_cost_code()),
        states_(graph.n_units) {}

  void run() {
    tables();
    cut_chunks();
    run_in_parallel(chunks_.size(), [this](size_t i) { records(chunks_[i], &counts_[i]); });
    compare_counts();
    if (graph_.start_state >= graph_.n_units || !states_.contains(graph_.start_state)) {
      bad("header", 0, "start_state is not a state");
    }
    run_in_parallel(chunks_.size(), [this](size_t i) { destinations(chunks_[i]); });
  }

 private:
  const asr_packed_graph &graph_;
  const std::string &path_;
  const uint32_t pdf_mask_;
  const unsigned pdf_bits_;
  const uint32_t own_cost_;
  std::vector<uint32_t> entry_pdfs_;  // [n_classes]
  std::vector<Chunk> chunks_;
  std::vector<Counts> counts_;  // [n_chunks]
  MarkedPlaces states_;         // offsets of records; each word of the set belongs to one block, and so to one chunk

  [[noreturn]] void bad(const char *field, uint64_t index, const char *what) const {
    fail(ASR_BAD_FILE, "%s: %s[%llu]: %s; the file is damaged, make the graph again", path_.c_str(), field,
         static_cast<unsigned long long>(index), what);
  }

  void tables() {
    if (graph_.n_costs > own_cost_) bad("header", 0, "n_costs is out of range");
    for (uint32_t i = 0; i < graph_.n_costs; ++i) {
      if (!is_finite(graph_.costs[i])) bad("costs", i, "is not finite");
    }
    const uint32_t min_id = graph_.n_transition_ids > 0 ? 1 : 0;
    for (uint32_t i = 0; i < graph_.n_classes; ++i) {
      const StateClass &own = graph_.classes[i];
      if (own.entry_id < min_id || own.entry_id > graph_.n_transition_ids) bad("classes", i, "entry_id is out of range");
      if (own.loop_id > graph_.n_transition_ids) bad("classes", i, "loop_id is out of range");
      if (own.pdf != (own.loop_id != 0 ? graph_.pdf_of[own.loop_id] : 0)) bad("classes", i, "pdf is not that of loop_id");
      if (!is_finite(own.cost)) bad("classes", i, "cost is not finite");
      entry_pdfs_.push_back(graph_.pdf_of[own.entry_id]);
    }
    for (uint32_t i = 0; i < graph_.n_other_ids; ++i) {
      const OtherId &other = graph_.other_ids[i];
      if (i > 0 && other.arc <= graph_.other_ids[i - 1].arc) bad("other_ids", i, "arc is not above the one before");
      if (other.transition_id - 1 >= graph_.n_transition_ids) bad("other_ids", i, "transition_id is out of range");
    }
  }

  void cut_chunks() {
    const uint64_t n_blocks = asr_packed_graph::n_blocks(graph_.n_units);
    std::vector<uint64_t> begins{0};
    for (uint64_t block = kChunkBlocks; block < n_blocks; block += kChunkBlocks) {
      while (block < n_blocks && graph_.first_records[block] >= asr_packed_graph::kBlockUnits) ++block;
      const uint64_t place = block * asr_packed_graph::kBlockUnits + (block < n_blocks ? graph_.first_records[block] : 0);
      if (place < graph_.n_units) begins.push_back(place);
    }
    begins.push_back(graph_.n_units);
    for (size_t i = 1; i < begins.size(); ++i) chunks_.push_back({begins[i - 1], begins[i]});
    counts_.resize(chunks_.size());
  }

  // Checks first_records of the blocks from `block` up to the next record's, which is at `place`; no record lies between.
  void first_records(uint64_t *block, uint64_t place) const {
    const uint64_t last = place / asr_packed_graph::kBlockUnits, n_blocks = asr_packed_graph::n_blocks(graph_.n_units);
    for (; *block <= last && *block < n_blocks; ++*block) {
      const bool here = *block == last && place < graph_.n_units;
      const uint64_t want = here ? place % asr_packed_graph::kBlockUnits : asr_packed_graph::kNoRecord;
      if (graph_.first_records[*block] != want) bad("first_records", *block, "is not where a record begins");
    }
  }

  void records(const Chunk &chunk, Counts *counts) {
    uint64_t place = chunk.begin;
    uint64_t block = place / asr_packed_graph::kBlockUnits;  // the next block whose first_records entry is unchecked
    while (place < chunk.end) {
      first_records(&block, place);
      states_.mark(static_cast<uint32_t>(place));
      place += record(static_cast<uint32_t>(place), counts);
      ++counts->states;
    }
    first_records(&block, place);  // the next chunk begins there, or the file is refused
  }

  void compare_counts() const {
    Counts all;
    for (const Counts &some : counts_) {
      all.states += some.states;
      all.arcs += some.arcs;
      all.emitting += some.emitting;
    }
    if (all.states != graph_.n_states) bad("header", 0, "n_states is not the number of records");
    if (all.arcs != graph_.n_arcs) bad("header", 0, "n_arcs is not the number of arcs");
    if (all.emitting != graph_.n_emitting_arcs) bad("header", 0, "n_emitting_arcs is not the number of emitting arcs");
  }

  // Returns the length of the record.
  uint64_t record(uint32_t place, Counts *counts) {
    const uint64_t n_left = graph_.n_units - place;
    const uint32_t header = graph_.records[place];
    const uint64_t n_fixed = 1 + is_more(header >> StateRecord::kEmittingAt, StateRecord::kMoreEmitting) +
                             is_more(header >> StateRecord::kEpsilonAt, StateRecord::kMoreEpsilon) +
                             is_more(header >> StateRecord::kClassAt, StateRecord::kMoreClasses) +
                             ((header & StateRecord::kFinal) != 0 ? 1 : 0);
    if (n_fixed > n_left) bad("records", place, "ends beyond the last record");
    const StateRecord state = graph_.state(place);
    if (state.n_arcs() > (n_left - n_fixed) / 2) bad("records", place, "has more arcs than there is room");
    if (state.state_class >= graph_.n_classes) bad("records", place, "class is not one of the classes");
    const bool has_loop = state.has_loop();
    if ((header & StateRecord::kLoopMask) > state.n_emitting + 1)
      bad("records", place, "self-loop has no place among the arcs");
    if (has_loop && graph_.classes[state.state_class].loop_id == 0) bad("records", place, "class has no self-loop");
    if ((header & StateRecord::kFinal) != 0 && !is_finite(state.final_cost)) bad("records", place, "final cost is not finite");
    counts->emitting += state.n_emitting + (has_loop ? 1 : 0);
    counts->arcs += state.n_arcs() + (has_loop ? 1 : 0);
    return n_fixed + 2 * state.n_arcs() + rest(place, state, n_left - n_fixed - 2 * state.n_arcs());
  }

  static uint64_t is_more(uint32_t field, uint32_t more) { return (field & more) == more ? 1 : 0; }

  // Checks arcs and the costs and words behind them. Returns the number of these.
  uint64_t rest(uint32_t place, const StateRecord &state, uint64_t n_left) {
    const uint32_t n_units = graph_.n_units, n_pdfs = graph_.n_pdfs, n_codes = graph_.n_costs;
    uint64_t n_costs = 0, n_words = 0;
    uint32_t wrong = 0;  // accumulated, tested once for all arcs
    const auto look = [&](const PackedArc &arc) {
      const uint32_t code = (arc.label & (PackedArc::kToEpsilons - 1)) >> pdf_bits_;
      const uint32_t own = code == own_cost_ ? 1 : 0;
      wrong |= static_cast<uint32_t>(arc.next >= n_units) | (static_cast<uint32_t>(code >= n_codes) & ~own);
      n_costs += own;
      n_words += arc.label >> 31;
    };
    const PackedArc *arc = state.arcs;
    for (const PackedArc *const end = state.last_emitting(); arc != end; ++arc) {
      wrong |= static_cast<uint32_t>((arc->label & pdf_mask_) >= n_pdfs);
      look(*arc);
    }
    for (const PackedArc *const end = state.last_arc(); arc != end; ++arc) {
      wrong |= static_cast<uint32_t>((arc->label & pdf_mask_) != n_pdfs);
      look(*arc);
    }
    if (wrong != 0) name_bad_arc(place, state);
    if (state.n_emitting > 0 && graph_.n_transition_ids == 0)
      bad("records", place, "has an emitting arc without a transition-id");
    if ((n_costs != 0) != ((state.header & StateRecord::kOwnCosts) != 0)) {
      bad("records", place, "header does not tell whether costs follow");
    }
    if (n_costs + n_words > n_left) bad("records", place, "ends beyond the last record");
    const float *const costs = state.own_costs();
    for (uint64_t i = 0; i < n_costs; ++i) {
      if (!is_finite(costs[i])) bad("records", place, "graph_cost is not finite");
    }
    const auto *const words = reinterpret_cast<const uint32_t *>(costs + n_costs);
    for (uint64_t i = 0; i < n_words; ++i) {
      if (words[i] == 0 || words[i] >= graph_.n_words) bad("records", place, "word of an arc is 0 or not below n_words");
    }
    return n_costs + n_words;
  }

  void name_bad_arc(uint32_t place, const StateRecord &state) const {
    for (const PackedArc *arc = state.arcs; arc != state.last_arc(); ++arc) {
      const uint32_t pdf = arc->label & pdf_mask_, code = graph_.cost_code(arc->label);
      if (arc->next >= graph_.n_units) bad("records", place, "next_state is not a state");
      if (code >= graph_.n_costs && code != own_cost_) bad("records", place, "cost of an arc is not one of the costs");
      const bool emitting = arc < state.last_emitting();
      if (emitting ? pdf >= graph_.n_pdfs : pdf != graph_.n_pdfs) bad("records", place, "pdf of an arc is out of range");
    }
  }

  // An arc whose next state is being prefetched.
  struct Ahead {
    uint32_t place;  // offset of its state
    uint32_t next, label;
    bool is_emitting, has_other_id;
  };

  // OtherIds walks through the other_ids of a chunk, which must belong to its emitting arcs, in their order.
  class OtherIds {
   public:
    OtherIds(const Checker &checker, const Chunk &chunk)
        : checker_(checker), next_(first_from(chunk.begin)), end_(first_from(chunk.end)) {}
    // Returns the entry of an emitting arc, or nullptr. Arcs must be requested in ascending order.
    const OtherId *of(uint32_t arc_number) {
      if (next_ == end_ || next_->arc > arc_number) return nullptr;
      if (next_->arc < arc_number) bad();
      return next_++;
    }
    void finish() const {
      if (next_ != end_) bad();
    }

   private:
    const Checker &checker_;
    const OtherId *next_, *end_;

    const OtherId *first_from(uint64_t place) const {
      const asr_packed_graph &graph = checker_.graph_;
      const auto before = [](const OtherId &other, uint64_t number) { return other.arc < number; };
      if (place == graph.n_units) return graph.other_ids + graph.n_other_ids;
      return std::lower_bound(graph.other_ids, graph.other_ids + graph.n_other_ids, 2 * place, before);
    }
    [[noreturn]] void bad() const {
      checker_.bad("other_ids", static_cast<uint64_t>(next_ - checker_.graph_.other_ids), "arc is not an emitting arc");
    }
  };

  void destinations(const Chunk &chunk) const {
    constexpr size_t kAhead = 32;
    Ahead ahead[kAhead];
    size_t n_seen = 0;
    OtherIds other_ids(*this, chunk);
    const auto add = [&](const Ahead &arc) {
      __builtin_prefetch(graph_.records + arc.next);
      states_.prefetch(arc.next);
      Ahead &slot = ahead[n_seen % kAhead];
      if (n_seen++ >= kAhead) destination(slot);
      slot = arc;
    };
    for (const uint32_t *at = graph_.records + chunk.begin; at != graph_.records + chunk.end;) {
      const auto place = static_cast<uint32_t>(at - graph_.records);
      const StateRecord state(at);
      uint32_t n_after = 0;  // costs and words behind the arcs
      const auto count = [&](uint32_t label) {
        n_after += (label >> 31) + ((label & (PackedArc::kToEpsilons - 1)) >> pdf_bits_ == own_cost_ ? 1 : 0);
      };
      const PackedArc *arc = state.arcs;
      for (const PackedArc *const end = state.last_emitting(); arc != end; ++arc) {
        const OtherId *const other = other_ids.of(graph_.number_of(*arc));
        if (other != nullptr && graph_.pdf_of[other->transition_id] != (arc->label & pdf_mask_)) bad_pdf(place);
        add({place, arc->next, arc->label, true, other != nullptr});
        count(arc->label);
      }
      for (const PackedArc *const end = state.last_arc(); arc != end; ++arc) {
        add({place, arc->next, arc->label, false, false});
        count(arc->label);
      }
      at = reinterpret_cast<const uint32_t *>(arc) + n_after;
    }
    other_ids.finish();
    for (size_t i = 0; i < std::min(n_seen, kAhead); ++i) destination(ahead[i]);
  }

  void destination(const Ahead &arc) const {
    if (!states_.contains(arc.next)) bad("records", arc.place, "next_state is not a state");
    const StateRecord to = graph_.state(arc.next);
    if (((arc.label & PackedArc::kToEpsilons) != 0) != (to.n_epsilon > 0)) {
      bad("records", arc.place, "label of an arc does not tell whether epsilon arcs leave its next_state");
    }
    if (!arc.is_emitting && (to.header & StateRecord::kEnteredByEpsilon) == 0) {
      bad("records", arc.place, "next_state does not tell that epsilon arcs enter it");
    }
    if (arc.is_emitting && !arc.has_other_id && entry_pdfs_[to.state_class] != (arc.label & pdf_mask_)) bad_pdf(arc.place);
  }

  [[noreturn]] void bad_pdf(uint32_t place) const { bad("records", place, "pdf of an arc is not that of its transition-id"); }
};

}  // namespace

void check_packed_graph(const asr_packed_graph &graph, const std::string &path) { Checker(graph, path).run(); }

}  // namespace asr
