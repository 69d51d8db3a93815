// SPDX-License-Identifier: Apache-2.0
// Prunes a lattice before its end is known. The last states of a piece have extra costs: lower bounds on how much a path
// through the state costs more than the best. An extra cost less the cost of the best path to the state bounds the cost of its
// continuations, up to a constant. So pruning never removes a path that could end up within the beam.
#include "core/lattice/lattice_window.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr double kQuantum = 1.0 / (1 << 24);
constexpr double kSlack = 0.01;  // extra costs are sums in single precision

template <typename T>
void drop_first(std::vector<T> &values, size_t n) {
  values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
}

// Reserves exactly: growing arrays by half their size would waste most of the memory.
template <typename T>
void reserve_exactly(std::vector<T> *values, size_t n_more) {
  if (values->size() + n_more > values->capacity()) values->reserve(values->size() + n_more);
}

[[noreturn]] void fail_damaged() {
  fail(ASR_INVALID_ARGUMENT, "lattice: a piece does not go on where the one before ended; it is damaged");
}

}  // namespace

void LatticeWindow::add(Lattice piece, bool is_last) {
  check_states(piece);
  round_costs(piece, kQuantum);
  join(std::move(piece));
  const Lattice &window = prepared_.lattice;
  const auto open =
      is_last ? window.frames.end() : std::lower_bound(window.frames.begin(), window.frames.end(), window.frames.back());
  open_begin_ = static_cast<uint32_t>(open - window.frames.begin());
  if (window.arc_begin[open_begin_] != window.arcs.size()) fail_damaged();
  if (!is_last) find_open_costs();
}

// Arrays are copied to larger ones one after another; the copy of the arcs is the largest.
size_t LatticeWindow::bytes_of(size_t n_states, size_t n_arcs) {
  constexpr size_t kState = 4 * sizeof(uint64_t) + sizeof(uint32_t) + 2 * sizeof(LatticeCost);
  constexpr size_t kVisit = 48;  // WordStep's memory per state
  return n_states * (kState + kVisit) + 2 * n_arcs * sizeof(LatticeArc);
}

void LatticeWindow::prepare(double lattice_beam) {
  find_costs_to_end(prepared_, acoustic_scale_);
  prepared_.best = kNoEnd.graph;
  for (uint32_t s = 0; s < n_states(); ++s) {
    prepared_.best = std::min(prepared_.best, prepared_.from_start[s] + prepared_.total_to_end[s]);
  }
  prepared_.slack = kSlack + 1e-9 * (1 + std::fabs(prepared_.best));
  prepared_.limit = prepared_.best + lattice_beam + kSlack + 1e-9 * (1 + std::fabs(prepared_.best));
  prune_and_order(prepared_, acoustic_scale_);
}

// Tries multiples of kWidthStep by bisection; more than kMaxSteps of them are as good as all. States that a wider beam keeps,
// be it before the first that is needed or among the open ones, do not count, so that it gets no less than a narrower one
// would.
double LatticeWindow::width_within(size_t max_bytes, double lattice_beam,
                                   const std::function<uint32_t(double limit)> &first_needed) const {
  constexpr double kMaxSteps = 1 << 20;
  const Lattice &window = prepared_.lattice;
  const auto fits = [&](double width) {
    const double limit = limit_of(width);
    const uint32_t first = first_needed(limit);
    if (first == kOutside) return false;
    size_t n_states = 0, n_arcs = 0;
    for (uint32_t s = first; s < window.n_states(); ++s) {
      n_states += prepared_.from_start[s] + prepared_.total_to_end[s] <= limit;
      for (uint64_t a = window.arc_begin[s]; a < window.arc_begin[s + 1]; ++a) {
        const LatticeArc &arc = window.arcs[a];
        n_arcs += prepared_.from_start[s] + arc.cost.total(acoustic_scale_) + prepared_.total_to_end[arc.next_state] <= limit;
      }
    }
    return bytes_of(n_states, n_arcs) <= max_bytes;
  };
  if (lattice_beam > 0 && fits(lattice_beam)) return lattice_beam;
  uint64_t sufficient = 0, insufficient = static_cast<uint64_t>(std::ceil(std::min(lattice_beam / kWidthStep, kMaxSteps)));
  while (insufficient > sufficient + 1) {
    const uint64_t middle = sufficient + (insufficient - sufficient) / 2;
    (fits(kWidthStep * static_cast<double>(middle)) ? sufficient : insufficient) = middle;
  }
  return kWidthStep * static_cast<double>(sufficient);
}

std::vector<uint32_t> LatticeWindow::narrow(double lattice_beam) {
  prepare(lattice_beam);
  Lattice &window = prepared_.lattice;
  std::vector<bool> used(n_states());  // by an arc, which rounding may put within a limit that its states exceed
  for (uint32_t s = 0; s < n_states(); ++s) {
    if (window.arc_begin[s] < window.arc_begin[s + 1]) used[s] = true;
  }
  for (const LatticeArc &arc : window.arcs) used[arc.next_state] = true;
  std::vector<uint32_t> numbers(n_states(), kOutside);
  uint32_t n = 0, open = 0;
  for (uint32_t s = 0; s < numbers.size(); ++s) {
    if (!used[s] && !stays(s, prepared_.limit)) continue;
    open += s < open_begin_;
    numbers[s] = n;
    window.frames[n] = window.frames[s];
    window.final_costs[n] = window.final_costs[s];
    prepared_.from_start[n] = prepared_.from_start[s];
    window.arc_begin[++n] = window.arc_begin[s + 1];  // other states have no arcs
  }
  for (LatticeArc &arc : window.arcs) arc.next_state = numbers[arc.next_state];
  window.frames.resize(n);
  window.final_costs.resize(n);
  window.arc_begin.resize(size_t{n} + 1);
  prepared_.from_start.resize(n);
  open_begin_ = open;
  prepare(lattice_beam);
  return numbers;
}

// Appends the piece and computes the costs of the best paths from the start to its states.
void LatticeWindow::join(Lattice piece) {
  Lattice &window = prepared_.lattice;
  std::vector<double> &from_start = prepared_.from_start;
  const bool is_first = window.n_states() == 0;
  const uint32_t n_shared = window.n_states() - open_begin_, n = piece.n_states();
  const bool joins = is_first ? n > 0 && piece.frames[0] == 0
                              : n > n_shared && n_shared > 0 && piece.frames[0] == window.frames.back() &&
                                    piece.frames[n_shared - 1] == piece.frames[0] && piece.frames[n_shared] > piece.frames[0];
  if (!joins) fail_damaged();
  window.arc_begin.resize(size_t{open_begin_} + 1);
  window.frames.resize(open_begin_);
  window.final_costs.resize(open_begin_);
  reserve_exactly(&window.arc_begin, n);
  reserve_exactly(&window.frames, n);
  reserve_exactly(&window.final_costs, n);
  for (uint32_t s = 0; s < n; ++s) window.arc_begin.push_back(window.arcs.size() + piece.arc_begin[s + 1]);
  for (LatticeArc &arc : piece.arcs) arc.next_state += open_begin_;
  reserve_exactly(&window.arcs, piece.arcs.size());
  window.arcs.insert(window.arcs.end(), piece.arcs.begin(), piece.arcs.end());
  window.frames.insert(window.frames.end(), piece.frames.begin(), piece.frames.end());
  window.final_costs.insert(window.final_costs.end(), piece.final_costs.begin(), piece.final_costs.end());
  from_start.reserve(window.n_states());
  from_start.resize(window.n_states(), kNoEnd.graph);
  if (is_first) from_start[0] = 0;
  find_costs_from_start(open_begin_);
}

// Follows the arcs of the states from `first` on.
void LatticeWindow::find_costs_from_start(uint32_t first) {
  const Lattice &window = prepared_.lattice;
  std::vector<double> &from_start = prepared_.from_start;
  for (uint32_t s = first; s < window.n_states(); ++s) {
    for (uint64_t a = window.arc_begin[s]; a < window.arc_begin[s + 1]; ++a) {
      const double cost = window.arcs[a].cost.total(acoustic_scale_);
      double &next = from_start[window.arcs[a].next_state];
      if (std::isfinite(cost)) next = std::min(next, from_start[s] + cost);
    }
  }
}

// Of equally good arcs into the frame the first counts.
uint32_t LatticeWindow::commit(uint32_t frame, double lattice_beam) {
  Lattice &window = prepared_.lattice;
  std::vector<double> &from_start = prepared_.from_start;
  find_costs_to_end(prepared_, acoustic_scale_);
  const auto begin = std::lower_bound(window.frames.begin(), window.frames.end(), frame - 1);
  const auto first = static_cast<uint32_t>(std::lower_bound(begin, window.frames.end(), frame) - window.frames.begin());
  double least = kNoEnd.graph, cost = kNoEnd.graph;
  uint32_t kept = first;
  const auto for_each_arc = [&](const auto &action) {
    for (auto s = static_cast<uint32_t>(begin - window.frames.begin()); s < first; ++s) {
      for (uint64_t a = window.arc_begin[s]; a < window.arc_begin[s + 1]; ++a) {
        if (window.arcs[a].next_state >= first) action(from_start[s], &window.arcs[a]);
      }
    }
  };
  for_each_arc([&](double before, const LatticeArc *arc) {
    const double total = before + arc->cost.total(acoustic_scale_);
    if (!(total + prepared_.total_to_end[arc->next_state] < least)) return;
    least = total + prepared_.total_to_end[arc->next_state];
    kept = arc->next_state;
    cost = total;
  });
  for_each_arc([&](double, LatticeArc *arc) {
    if (arc->next_state != kept) arc->cost = kNoEnd;
  });
  std::fill(from_start.begin() + first, from_start.end(), kNoEnd.graph);
  if (kept < from_start.size()) from_start[kept] = cost;
  find_costs_from_start(first);
  prepare(lattice_beam);
  return first;
}

// Replaces the extra costs by the least costs of the continuations.
void LatticeWindow::find_open_costs() {
  std::vector<LatticeCost> &costs = prepared_.lattice.final_costs;
  const std::vector<double> &from_start = prepared_.from_start;
  double best = kNoEnd.graph;
  for (size_t s = open_begin_; s < costs.size(); ++s) best = std::min(best, from_start[s]);
  for (size_t s = open_begin_; s < costs.size(); ++s) {
    costs[s] = std::isfinite(from_start[s]) ? LatticeCost{costs[s].graph + (best - from_start[s]), 0} : kNoEnd;
  }
}

void LatticeWindow::drop(uint32_t n_states) {
  Lattice &window = prepared_.lattice;
  const uint64_t n_arcs = window.arc_begin[n_states];
  drop_first(window.arcs, n_arcs);
  drop_first(window.arc_begin, n_states);
  drop_first(window.frames, n_states);
  drop_first(window.final_costs, n_states);
  drop_first(prepared_.from_start, n_states);
  for (uint64_t &begin : window.arc_begin) begin -= n_arcs;
  for (LatticeArc &arc : window.arcs) arc.next_state -= n_states;
  open_begin_ -= n_states;
}

}  // namespace asr
