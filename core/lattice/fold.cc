// SPDX-License-Identifier: Apache-2.0
// Folds a lattice onto a word sequence. For a single path this is the edit distance with back-pointers. For a lattice, a
// state's row of distances to the first q slots is the average, weighted by posteriors, over its incoming arcs:
//
//   distance(arc, q) = min( distance(source, q - 1) + mismatch(word, slot q)   the word goes into the slot
//                           distance(arc, q - 1)    + mismatch(none, slot q)   the slot stays empty
//                           distance(source, q)     + mismatch(word, none)     the word is left out )
//   distance(state, q) = sum over arcs into it of (posterior of arc / posterior of state) * distance(arc, q)
//
// An average of least distances is at least the least of averages. So the distance at the end is an upper bound of the expected
// errors, and it is exact if paths do not meet. A walk back from the end finds the share of the paths that took each
// choice. The share is passed on to the choice's source, and accumulated for each slot.
#include "core/lattice/confusion_network.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/lattice/posteriors.h"

namespace asr {
namespace {

// Tie-breaker between folds with equal errors: penalises words far from the slot's time and words in no slot, by less than an
// error.
constexpr double kMismatchAFrame = 1e-5, kMaxForTime = 1e-2;
constexpr double kLeftOut = 1e-3;
constexpr double kFar = 1e30;  // distance to slots out of reach

struct Slot {
  uint32_t word;      // 0 in the slots between words
  double begin, end;  // frames
};

// A range of slot numbers: row q covers the slots before q.
struct Band {
  uint32_t first = 0, last = 0;  // inclusive
  size_t offset = 0;             // offset of the band's values in a shared array
  uint32_t size() const { return last - first + 1; }
};

class Fold {
 public:
  Fold(const CompactLattice &lattice, const LatticePosteriors &posteriors, const std::vector<WordPlace> &words,
       const StopToken &stop)
      : lattice_(lattice), posteriors_(posteriors), stop_(stop) {
    make_slots(words);
    for (double reach = kFoldReach; !make_bands(reach); reach /= 2) {
      if (reach < 1) fail(ASR_INVALID_ARGUMENT, "lattice: too many words begin in one frame for confidences; prune it");
    }
    distance_.assign(n_values_, 0);
    share_.assign(n_values_, 0);
    go_forward();
    go_back();
  }

  ConfusionNetwork network() const {
    ConfusionNetwork network;
    network.expected_errors = left_out_;
    for (size_t q = 0; q < slots_.size(); ++q) {
      std::vector<SlotWord> words;
      for (const auto &[word, sums] : sums_[q]) {
        if (sums.share <= 0) continue;
        words.push_back({word, std::min(sums.share, 1.0), sums.begin / sums.share, sums.end / sums.share});
        if (word != slots_[q].word) network.expected_errors += sums.share;
      }
      const uint32_t own = slots_[q].word;  // first among equals
      const auto likelier = [own](const SlotWord &a, const SlotWord &b) {
        return a.posterior != b.posterior ? a.posterior > b.posterior : a.word == own && b.word != own;
      };
      std::stable_sort(words.begin(), words.end(), likelier);
      network.slots.push_back(std::move(words));
    }
    return network;
  }

 private:
  struct Sums {
    double share = 0, begin = 0, end = 0;
  };
  // One arc, or an end, which behaves like an arc without a word that leaves the lattice.
  struct Step {
    uint32_t source, word;
    double begin, end;  // frames
    Band reach;         // slots that may take the word
  };

  const CompactLattice &lattice_;
  const LatticePosteriors &posteriors_;
  const StopToken &stop_;
  std::vector<Slot> slots_;
  std::vector<Band> bands_;  // [n_states]
  size_t n_values_ = 0;
  std::vector<double> distance_, share_;  // [state][q in its band]
  std::vector<double> row_, row_share_;
  std::vector<std::map<uint32_t, Sums>> sums_;  // [n_slots], key: word
  double left_out_ = 0;

  void make_slots(const std::vector<WordPlace> &words) {
    double before = 0;
    for (const WordPlace &word : words) {
      slots_.push_back({0, before, word.begin});
      slots_.push_back({word.word, word.begin, word.end});
      before = word.end;
    }
    slots_.push_back({0, before, before});
    sums_.resize(slots_.size());
  }

  // Computes the slots within reach of each state; false if they are too many. Moved words can make slot times decrease
  // slightly; a running bound keeps the bands in order.
  bool make_bands(double reach) {
    const uint32_t n_slots = static_cast<uint32_t>(slots_.size());
    std::vector<double> latest(n_slots);
    for (uint32_t q = 0; q < n_slots; ++q) latest[q] = std::max(slots_[q].end, q == 0 ? 0 : latest[q - 1]);
    bands_.clear();
    n_values_ = 0;
    for (uint32_t s = 0; s < lattice_.n_states(); ++s) {
      const double t = lattice_.frames[s];
      const auto slot_at = [&](double frame) {
        return static_cast<uint32_t>(std::lower_bound(latest.begin(), latest.end(), frame) - latest.begin());
      };
      const Band band{slot_at(t - reach), std::min(n_slots, slot_at(t + reach) + 2), n_values_};
      n_values_ += band.size();
      bands_.push_back(band);
    }
    size_t n_arc_values = 0;
    for (uint32_t s = 0; s < lattice_.n_states(); ++s) {
      for (uint64_t a = lattice_.arc_begin[s]; a < lattice_.arc_begin[s + 1]; ++a) {
        n_arc_values += arc_step(s, lattice_.arcs[a]).reach.size();
      }
    }
    return n_values_ <= kMaxFoldStateValues && n_arc_values <= kMaxFoldArcValues;
  }

  double distance(uint32_t s, uint32_t q) const {
    const Band &band = bands_[s];
    return q < band.first || q > band.last ? kFar : distance_[band.offset + q - band.first];
  }

  double mismatch(const Step &step, const Slot &slot) const {
    const double apart = std::abs((step.begin + step.end) - (slot.begin + slot.end)) / 2;
    return (step.word != slot.word) + std::min(kMismatchAFrame * apart, kMaxForTime);
  }

  enum class Choice { kPair, kEmpty, kSkip };

  // Returns the cheapest choice for slots before q, given the row so far.
  std::pair<double, Choice> choose(const Step &step, uint32_t q) const {
    std::pair<double, Choice> best{distance(step.source, q) + (step.word == 0 ? 0 : 1 + kLeftOut), Choice::kSkip};
    if (q == 0) return best;
    if (q > step.reach.first) {
      const double empty = row_[q - 1 - step.reach.first] + (slots_[q - 1].word != 0);
      if (empty < best.first) best = {empty, Choice::kEmpty};
    }
    if (step.word != 0) {
      const double pair = distance(step.source, q - 1) + mismatch(step, slots_[q - 1]);
      if (pair < best.first) best = {pair, Choice::kPair};
    }
    return best;
  }

  void make_row(const Step &step) {
    row_.resize(step.reach.size());
    for (uint32_t q = step.reach.first; q <= step.reach.last; ++q) row_[q - step.reach.first] = choose(step, q).first;
  }

  Step arc_step(uint32_t s, const CompactArc &arc) const {
    const Band &from = bands_[s], &to = bands_[arc.next_state];
    return {s,
            arc.word,
            double(lattice_.frames[s]),
            double(lattice_.frames[arc.next_state]),
            {from.first, std::max(from.last, to.last), 0}};
  }

  Step end_step(uint32_t s) const {
    const double frame = lattice_.frames[s];
    return {s, 0, frame, frame, {bands_[s].first, static_cast<uint32_t>(slots_.size()), 0}};
  }

  // Returns the arc's share of the paths into its next state.
  double weight(uint64_t a) const {
    const double whole = posteriors_.states[lattice_.arcs[a].next_state];
    return whole > 0 ? posteriors_.arcs[a] / whole : 0;
  }

  void go_forward() {
    distance_[0] = 0;
    for (uint32_t q = 1; q <= bands_[0].last; ++q) distance_[q] = distance_[q - 1] + (slots_[q - 1].word != 0);
    for (uint32_t s = 0; s < lattice_.n_states(); ++s) {
      for (uint64_t a = lattice_.arc_begin[s]; a < lattice_.arc_begin[s + 1]; ++a) {
        stop_.check();
        if (weight(a) == 0) continue;
        const Step step = arc_step(s, lattice_.arcs[a]);
        make_row(step);
        const Band &to = bands_[lattice_.arcs[a].next_state];
        for (uint32_t q = to.first; q <= to.last; ++q) {
          distance_[to.offset + q - to.first] += weight(a) * row_[q - step.reach.first];
        }
      }
    }
  }

  void go_back() {
    const uint32_t n_slots = static_cast<uint32_t>(slots_.size());
    for (uint32_t s = lattice_.n_states(); s-- > 0;) {
      if (posteriors_.ends[s] > 0) {
        const Step step = end_step(s);
        row_share_.assign(step.reach.size(), 0);
        row_share_[n_slots - step.reach.first] = posteriors_.ends[s];
        pass_back(step);
      }
      for (uint64_t a = lattice_.arc_begin[s]; a < lattice_.arc_begin[s + 1]; ++a) {
        stop_.check();
        if (weight(a) == 0) continue;
        const Step step = arc_step(s, lattice_.arcs[a]);
        const Band &to = bands_[lattice_.arcs[a].next_state];
        row_share_.assign(step.reach.size(), 0);
        for (uint32_t q = to.first; q <= to.last; ++q) {
          row_share_[q - step.reach.first] = weight(a) * share_[to.offset + q - to.first];
        }
        pass_back(step);
      }
    }
    for (uint32_t q = bands_[0].last; q > 0; --q) {  // slots before the first step of a path stay empty
      sums_[q - 1][0].share += share_[q];
      share_[q - 1] += share_[q];
    }
  }

  // Distributes a step's row_share_ according to the choices of its row.
  void pass_back(const Step &step) {
    make_row(step);
    const Band &from = bands_[step.source];
    for (uint32_t q = step.reach.last + 1; q-- > step.reach.first;) {
      const double share = row_share_[q - step.reach.first];
      if (share == 0) continue;
      switch (choose(step, q).second) {
        case Choice::kPair: {
          Sums &sums = sums_[q - 1][step.word];
          sums.share += share;
          sums.begin += share * step.begin;
          sums.end += share * step.end;
          share_[from.offset + q - 1 - from.first] += share;
          break;
        }
        case Choice::kEmpty:
          sums_[q - 1][0].share += share;
          row_share_[q - 1 - step.reach.first] += share;
          break;
        case Choice::kSkip:
          if (step.word != 0) left_out_ += share;
          share_[from.offset + q - from.first] += share;
          break;
      }
    }
  }
};

}  // namespace

ConfusionNetwork fold_onto(const CompactLattice &lattice, const LatticePosteriors &posteriors,
                           const std::vector<WordPlace> &words, const StopToken &stop) {
  if (std::isinf(posteriors.log_sum)) return {std::vector<std::vector<SlotWord>>(2 * words.size() + 1), double(words.size())};
  return Fold(lattice, posteriors, words, stop).network();
}

}  // namespace asr
