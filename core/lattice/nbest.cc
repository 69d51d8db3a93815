// SPDX-License-Identifier: Apache-2.0
// A* search. The queue holds prefixes of paths, ordered by the exact cost of their best completion. A prefix taken from the
// queue is followed to its end at once; the alternatives passed on the way are queued. So each path takes one prefix from the
// queue, and an alternative dearer than n others need not be queued.
#include "core/lattice/nbest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/limits.h"
#include "core/lattice/prune.h"

namespace asr {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

class PathSearch {
 public:
  PathSearch(const CompactLattice &lattice, double acoustic_scale, size_t n, const StopToken &stop)
      : lattice_(lattice),
        acoustic_scale_(acoustic_scale),
        n_(n),
        stop_(stop),
        to_end_(best_costs(lattice, acoustic_scale).to_end) {}

  bool run(double beam, const std::function<bool(LatticePath)> &visit) {
    if (n_ == 0 || to_end_.empty() || !std::isfinite(to_end_[0])) return true;
    const double slack = 1e-9 * (1 + std::fabs(to_end_[0]));  // estimates are not summed in the order of the costs
    limit_ = to_end_[0] + beam + slack;
    add({0, 0, kNone, false, {}}, to_end_[0]);
    double best = 0;  // cost of the first path
    for (size_t n_found = 0; !queue_.empty() && n_found < n_; ++n_found) {
      const Beginning next = beginnings_[queue_.top().second];
      queue_.pop();
      LatticePath path = follow(next);
      const double cost = path.cost.total(acoustic_scale_);
      if (n_found == 0) best = cost;
      if (cost > best + beam) break;
      if (!visit(std::move(path)) || n_bytes() > kMaxPathBytes) return false;
    }
    return true;
  }

 private:
  struct Step {
    uint64_t arc;
    uint32_t before;  // kNone: the first arc
  };
  struct Beginning {
    uint32_t state;
    uint32_t n_steps;
    uint32_t last_step;
    bool ends;  // the path ends here
    LatticeCost cost;
  };
  using Waiting = std::pair<double, size_t>;  // estimate, index in beginnings_

  const CompactLattice &lattice_;
  const double acoustic_scale_;
  const size_t n_;
  const StopToken &stop_;
  const std::vector<double> to_end_;
  double limit_ = 0;
  std::vector<Step> steps_;
  std::vector<Beginning> beginnings_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
  std::priority_queue<double> least_;  // the n least estimates so far

  size_t n_bytes() const {
    return steps_.size() * sizeof(Step) + beginnings_.size() * (sizeof(Beginning) + sizeof(Waiting) + sizeof(double));
  }

  // Returns true if a way is among the n best so far and within the beam.
  bool is_wanted(double estimate) const {
    return std::isfinite(estimate) && estimate <= limit_ && (least_.size() < n_ || estimate < least_.top());
  }

  void add(const Beginning &beginning, double estimate) {
    if (least_.size() == n_) least_.pop();
    least_.push(estimate);
    queue_.emplace(estimate, beginnings_.size());
    beginnings_.push_back(beginning);
  }

  double estimate(const LatticeCost &cost, const CompactArc &arc) const {
    return (cost + arc.cost).total(acoustic_scale_) + to_end_[arc.next_state];
  }

  Beginning continued(const Beginning &path, uint64_t a) {
    steps_.push_back({a, path.last_step});
    const CompactArc &arc = lattice_.arcs[a];
    return {arc.next_state, path.n_steps + 1, static_cast<uint32_t>(steps_.size() - 1), false, path.cost + arc.cost};
  }

  LatticePath follow(Beginning path) {
    while (!path.ends) {
      stop_.check();
      const LatticeCost &end_cost = lattice_.ends[path.state].cost;
      const uint64_t begin = lattice_.arc_begin[path.state], end = lattice_.arc_begin[path.state + 1];
      double least = (path.cost + end_cost).total(acoustic_scale_);
      uint64_t best = end;  // initially the way that ends here
      for (uint64_t a = begin; a < end; ++a) {
        const double cost = estimate(path.cost, lattice_.arcs[a]);
        if (cost < least) std::tie(least, best) = std::tie(cost, a);
      }
      if (best != end && is_end(end_cost)) {
        Beginning ended = path;
        ended.ends = true;
        const double cost = (path.cost + end_cost).total(acoustic_scale_);
        if (is_wanted(cost)) add(ended, cost);
      }
      for (uint64_t a = begin; a < end; ++a) {
        const double cost = estimate(path.cost, lattice_.arcs[a]);
        if (a != best && is_wanted(cost)) add(continued(path, a), cost);
      }
      if (best == end) break;
      path = continued(path, best);
    }
    return complete(path);
  }

  LatticePath complete(const Beginning &path) const {
    std::vector<uint64_t> arcs(path.n_steps);
    uint32_t step = path.last_step;
    for (size_t i = arcs.size(); i-- > 0; step = steps_[step].before) arcs[i] = steps_[step].arc;

    LatticePath result;
    const auto append_ids = [&](const Alignment &alignment) {
      const uint32_t *ids = lattice_.begin(alignment);
      result.transition_ids.insert(result.transition_ids.end(), ids, ids + alignment.size);
    };
    uint32_t state = 0;
    for (const uint64_t a : arcs) {
      const CompactArc &arc = lattice_.arcs[a];
      if (arc.word != 0) {
        result.words.push_back(arc.word);
        result.word_frames.push_back(lattice_.frames[state]);
      }
      append_ids(arc.alignment);
      state = arc.next_state;
    }
    append_ids(lattice_.ends[state].alignment);
    result.cost = path.cost + lattice_.ends[state].cost;
    return result;
  }
};

}  // namespace

std::vector<LatticePath> n_best_paths(const CompactLattice &lattice, double acoustic_scale, size_t n, double beam,
                                      const StopToken &stop) {
  constexpr size_t kWordBytes = 64, kFrameBytes = sizeof(uint32_t);  // with what an event holds of a word
  std::vector<LatticePath> paths;
  size_t n_bytes = 0;
  const auto keep = [&](LatticePath path) {
    n_bytes += path.words.size() * kWordBytes + path.transition_ids.size() * kFrameBytes;
    paths.push_back(std::move(path));
    return n_bytes <= kMaxPathBytes;
  };
  visit_best_paths(lattice, acoustic_scale, n, beam, keep, stop);
  return paths;
}

bool visit_best_paths(const CompactLattice &lattice, double acoustic_scale, size_t n, double beam,
                      const std::function<bool(LatticePath)> &visit, const StopToken &stop) {
  return PathSearch(lattice, acoustic_scale, n, stop).run(beam, visit);
}

LatticePath best_path(const CompactLattice &lattice, double acoustic_scale) {
  std::vector<LatticePath> paths = n_best_paths(lattice, acoustic_scale, 1);
  return paths.empty() ? LatticePath{} : std::move(paths.front());
}

std::optional<double> cost_of_words(const CompactLattice &lattice, const std::vector<uint32_t> &words, double acoustic_scale,
                                    uint64_t *n_steps) {
  const auto take_steps = [&](uint64_t n) { *n_steps -= std::min(n, *n_steps); };
  take_steps(lattice.n_states());
  if (lattice.n_states() == 0 || *n_steps == 0) return std::nullopt;
  // [state]: least cost of reaching the state, by the number of words consumed. States are sorted, so one pass suffices.
  std::vector<std::map<size_t, double>> costs(lattice.n_states());
  costs[0][0] = 0;
  double best = kNoEnd.graph;
  for (uint32_t state = 0; state < lattice.n_states(); ++state) {
    const std::map<size_t, double> here = std::move(costs[state]);
    for (const auto &[said, cost] : here) {
      take_steps(lattice.arc_begin[state + 1] - lattice.arc_begin[state] + 1);
      if (*n_steps == 0) return std::nullopt;
      if (said == words.size()) best = std::min(best, cost + lattice.ends[state].cost.total(acoustic_scale));
      for (uint64_t a = lattice.arc_begin[state]; a < lattice.arc_begin[state + 1]; ++a) {
        const CompactArc &arc = lattice.arcs[a];
        if (arc.word != 0 && (said == words.size() || arc.word != words[said])) continue;
        const double then = cost + arc.cost.total(acoustic_scale);
        const auto [found, is_new] = costs[arc.next_state].emplace(said + (arc.word != 0), then);
        if (!is_new) found->second = std::min(found->second, then);
      }
    }
  }
  return std::isinf(best) ? std::nullopt : std::optional(best);
}

}  // namespace asr
