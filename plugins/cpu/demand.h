// SPDX-License-Identifier: Apache-2.0
// DemandPolicy decides for each advance whether a model's scores are all made at once or on demand, as the searches ask for
// them (docs/cpu.md, "Scores on demand"). The scores have the same bits either way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plugins/cpu/gmm_kernels.h"

namespace asr::cpu {

// The rows of an advance that wait for their scores. Channels over the same rows share their tiles.
struct WaitingRows {
  double n_rows = 0, n_tiles = 0, n_shared = 0, n_channels = 0;
  void add(size_t n_frames, size_t n_channels_of_rows) {
    const size_t n_tiles_of_rows = (n_frames + kAskedFrames - 1) / kAskedFrames;
    n_rows += static_cast<double>(n_frames);
    n_tiles += static_cast<double>(n_tiles_of_rows);
    n_shared += 1;
    n_channels += static_cast<double>(n_channels_of_rows);
  }
};

// How many units of states searches asked for, of how many, summed over their tiles; and the arcs that they expanded.
struct Asked {
  uint64_t n_units = 0, n_all = 0, n_arcs = 0;
  Asked &operator+=(const Asked &more) {
    n_units += more.n_units, n_all += more.n_all, n_arcs += more.n_arcs;
    return *this;
  }
};

class DemandPolicy {
 public:
  // row_cost: vector operations that a row of all scores takes.
  DemandPolicy(size_t n_threads, double row_cost) : n_threads_(static_cast<double>(n_threads)), row_cost_(row_cost) {}

  // Says whether the scores of the next window should wait for its advance.
  bool waits() const { return waits_; }

  // Says whether the scores of rows that have waited should be made on demand.
  bool asks(const WaitingRows &rows) const { return n_whole_ == kMaxWhole || is_cheaper(rows); }

  // Notes an advance: the rows whose scores were made on demand, and what their channels asked for.
  void add(const WaitingRows &rows, const Asked &asked) {
    if (asked.n_all > 0) {
      const double share = static_cast<double>(asked.n_units) / static_cast<double>(asked.n_all);
      const double n_arcs = static_cast<double>(asked.n_arcs) / rows.n_rows;
      const double weight = is_measured_ ? 0.25 : 1;
      share_ += weight * (share - share_), n_arcs_ += weight * (n_arcs - n_arcs_);
      is_measured_ = true;
      n_whole_ = 0;
    } else {
      n_whole_ += n_whole_ < kMaxWhole ? 1 : 0;
    }
    waits_ = n_whole_ > 0 ? n_whole_ == kMaxWhole : is_cheaper(rows);
  }

 private:
  static constexpr double kReadFrames = 8;    // a unit's parameters are read for a tile while so many frames are scored
  static constexpr double kOverhead = 1.5;    // of scores on demand, whose parameters come unforeseen
  static constexpr double kArc = 15;          // vector operations that take as long as the search takes for an arc,
  static constexpr double kArcOnDemand = 2;   // and longer if scores are on demand
  static constexpr unsigned kMaxWhole = 64;   // advances after which the share is measured again

  // Compares times, in vector operations. All threads score a window, meanwhile and beside the searches. On demand the thread
  // of a search scores for it.
  bool is_cheaper(const WaitingRows &rows) const {
    const double search = n_arcs_ * kArc * rows.n_rows, score = row_cost_ * (kReadFrames + rows.n_rows);
    const double whole = std::max(search / std::min(rows.n_channels, n_threads_), (search + score) / n_threads_);
    const double demanded = row_cost_ * share_ * kOverhead * (kReadFrames * rows.n_tiles + rows.n_rows);
    const double dearer = n_arcs_ * kArcOnDemand * rows.n_rows;
    return (search + dearer + demanded) / std::min(rows.n_shared, n_threads_) < whole;
  }

  const double n_threads_, row_cost_;
  double share_ = 0, n_arcs_ = 0;  // of the units that are asked for, and of a row, over the last advances on demand
  bool is_measured_ = false, waits_ = false;
  unsigned n_whole_ = kMaxWhole;
};

}  // namespace asr::cpu
