// SPDX-License-Identifier: Apache-2.0
// DemandPolicy decides for each advance whether a model's scores are all made at once or on demand, as the searches ask for
// them (docs/cpu.md, "Scores on demand"). The scores have the same bits either way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plugins/cpu/gmm_kernels.h"

namespace asr::cpu {

// The rows of an advance that wait for their scores. Every channel has tiles of its own.
struct WaitingRows {
  size_t n_rows = 0, n_tiles = 0, n_channels = 0;
  void add_channel(size_t n_frames) {
    n_rows += n_frames;
    n_tiles += (n_frames + kAskedFrames - 1) / kAskedFrames;
    ++n_channels;
  }
};

// How many units of states the search of a channel asked for, of how many, summed over its tiles.
struct Asked {
  uint64_t n_units = 0, n_all = 0;
  Asked &operator+=(const Asked &more) {
    n_units += more.n_units, n_all += more.n_all;
    return *this;
  }
};

class DemandPolicy {
 public:
  explicit DemandPolicy(size_t n_threads) : n_threads_(static_cast<double>(n_threads)) {}

  // Says whether the scores of the next window should wait for its advance.
  bool waits() const { return waits_; }

  // Says whether the scores of rows that have waited should be made on demand.
  bool asks(const WaitingRows &rows) const { return n_whole_ >= kMostWhole || is_cheaper(rows); }

  // Notes an advance: the rows whose scores were made on demand, and what their channels asked for.
  void add(const WaitingRows &rows, const Asked &asked) {
    if (asked.n_all > 0) {
      const double share = static_cast<double>(asked.n_units) / static_cast<double>(asked.n_all);
      share_ = share_ < 0 ? share : share_ + (share - share_) / 4;
      n_whole_ = 0;
    } else {
      n_whole_ += n_whole_ < kMostWhole ? 1 : 0;
    }
    waits_ = n_whole_ > 0 ? n_whole_ == kMostWhole : is_cheaper(rows);
  }

 private:
  // To read the parameters of a unit for a tile takes as long as to score so many of its frames.
  static constexpr double kReadFrames = 8;
  static constexpr double kOverhead = 1.3;    // of scores on demand: weights come from memory without warning
  static constexpr unsigned kMostWhole = 64;  // advances after which the share is measured again

  // One thread serves a channel's demands. All threads score a whole window.
  bool is_cheaper(const WaitingRows &rows) const {
    const auto n_rows = static_cast<double>(rows.n_rows), n_tiles = static_cast<double>(rows.n_tiles);
    const double asked = share_ * kOverhead * (kReadFrames * n_tiles + n_rows);
    return asked * n_threads_ < (kReadFrames + n_rows) * std::min(static_cast<double>(rows.n_channels), n_threads_);
  }

  const double n_threads_;
  double share_ = -1;  // of the units that are asked for, over the last advances
  unsigned n_whole_ = kMostWhole;
  bool waits_ = false;
};

}  // namespace asr::cpu
