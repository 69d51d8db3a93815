// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/state_level.h"

#include <utility>

#include "core/base/error.h"

namespace asr {
namespace {

// Expander numbers the states of the result. Behind each state of the source come the states inside the chains of its
// arcs, then the states of its end.
class Expander {
 public:
  explicit Expander(const CompactLattice &source) : source_(source) { number_states(); }

  Lattice run() {
    for (uint32_t s = 0; s < source_.n_states(); ++s) expand(s);
    return std::move(result_);
  }

 private:
  const CompactLattice &source_;
  Lattice result_;
  std::vector<uint32_t> numbers_;  // [source state]

  static uint32_t n_inner(const Alignment &alignment) { return alignment.size == 0 ? 0 : alignment.size - 1; }

  void number_states() {
    uint64_t n = 0;
    for (uint32_t s = 0; s < source_.n_states(); ++s) {
      numbers_.push_back(static_cast<uint32_t>(n++));
      for (uint64_t a = source_.arc_begin[s]; a < source_.arc_begin[s + 1]; ++a) n += n_inner(source_.arcs[a].alignment);
      n += source_.ends[s].alignment.size;
    }
    if (n > 0xffffffffu) fail(ASR_INVALID_ARGUMENT, "lattice: has more than 2^32 states at the state level");
  }

  void add_state(uint32_t frame, const LatticeCost &final_cost) {
    result_.frames.push_back(frame);
    result_.final_costs.push_back(final_cost);
  }
  void end_state() { result_.arc_begin.push_back(result_.arcs.size()); }

  void expand(uint32_t s) {
    const CompactLattice::End &end = source_.ends[s];
    const uint32_t *const end_ids = source_.begin(end.alignment);
    add_state(source_.frames[s], end.alignment.size == 0 ? end.cost : kNoEnd);
    uint32_t inner = numbers_[s] + 1;
    for (uint64_t a = source_.arc_begin[s]; a < source_.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = source_.arcs[a];
      const uint32_t id = arc.alignment.size == 0 ? 0 : *source_.begin(arc.alignment);
      const uint32_t next = n_inner(arc.alignment) == 0 ? numbers_[arc.next_state] : inner;
      result_.arcs.push_back({next, id, arc.word, arc.cost});
      inner += n_inner(arc.alignment);
    }
    if (end.alignment.size > 0) result_.arcs.push_back({inner, end_ids[0], 0, end.cost});
    end_state();

    for (uint64_t a = source_.arc_begin[s]; a < source_.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = source_.arcs[a];
      for (uint32_t i = 1; i < arc.alignment.size; ++i) {
        const bool last = i + 1 == arc.alignment.size;
        add_state(source_.frames[s] + i, kNoEnd);
        const uint32_t next = last ? numbers_[arc.next_state] : result_.n_states();
        result_.arcs.push_back({next, source_.begin(arc.alignment)[i], 0, {}});
        end_state();
      }
    }
    for (uint32_t i = 1; i <= end.alignment.size; ++i) {
      const bool last = i == end.alignment.size;
      add_state(source_.frames[s] + i, last ? LatticeCost{} : kNoEnd);
      if (!last) result_.arcs.push_back({result_.n_states(), end_ids[i], 0, {}});
      end_state();
    }
  }
};

}  // namespace

Lattice state_level(const CompactLattice &lattice) { return Expander(lattice).run(); }

}  // namespace asr
