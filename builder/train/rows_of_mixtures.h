// SPDX-License-Identifier: Apache-2.0
// RowsOfMixtures sorts the rows of a stream, or their shares, by mixture and cuts each mixture's into pieces. The
// number of pieces depends on the data alone. Sums over the pieces, added in order, have the same bits wherever each is
// summed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "builder/train/em.h"

namespace asr::train {

class RowsOfMixtures {
 public:
  // A piece has numbers of shares in ascending order.
  struct Piece {
    size_t mixture;
    const uint64_t *first, *last;
  };

  // Counts blocks of shares side by side, then sorts them. Model and rows must outlive this.
  RowsOfMixtures(const MixtureModel &model, const TrainingRows &rows, size_t stream, ThreadPool *pool)
      : model_(model), rows_(rows), stream_(stream), begin_(model.mixtures.size() + 1) {
    const size_t n_mixtures = model.mixtures.size(), n_blocks = pool->n_threads();
    std::vector<std::vector<uint64_t>> next(n_blocks);  // of each block, for each mixture
    pool->run(n_blocks, [&](size_t block) {
      next[block].resize(n_mixtures);
      for_each_share(block, n_blocks, [&](uint64_t, uint32_t state) { ++next[block][mixture_of(state)]; });
    });
    uint64_t n = 0;
    for (size_t mixture = 0; mixture < n_mixtures; ++mixture) {
      begin_[mixture] = n;
      for (std::vector<uint64_t> &of_block : next) n += std::exchange(of_block[mixture], n);
    }
    begin_[n_mixtures] = n;
    numbers_.resize(n);
    pool->run(n_blocks, [&](size_t block) {
      for_each_share(block, n_blocks, [&](uint64_t i, uint32_t state) { numbers_[next[block][mixture_of(state)]++] = i; });
    });
  }

  uint64_t n_pieces(size_t mixture) const { return std::clamp<uint64_t>(n_rows(mixture) / kPieceRows, 1, kMaxPieces); }
  Piece piece(size_t mixture, uint64_t number) const {
    const uint64_t n = n_rows(mixture), n_all = n_pieces(mixture), *const numbers = numbers_.data() + begin_[mixture];
    return {mixture, numbers + n * number / n_all, numbers + n * (number + 1) / n_all};
  }
  uint32_t weight_row(uint32_t state) const { return model_.state_weight_row[cell(state)]; }

 private:
  static constexpr uint64_t kPieceRows = 4096, kMaxPieces = 16;  // rows and number of a mixture's pieces

  template <typename Action>
  void for_each_share(size_t block, size_t n_blocks, Action action) const {
    const uint64_t n = rows_.n_shares();
    for (uint64_t i = n * block / n_blocks; i < n * (block + 1) / n_blocks; ++i) {
      const uint32_t state = rows_.share(i).state;
      if (state != kNoState) action(i, state);
    }
  }
  size_t cell(uint32_t state) const { return size_t{state} * model_.streams.size() + stream_; }
  size_t mixture_of(uint32_t state) const { return model_.state_mixture[cell(state)]; }
  uint64_t n_rows(size_t mixture) const { return begin_[mixture + 1] - begin_[mixture]; }

  const MixtureModel &model_;
  const TrainingRows &rows_;
  const size_t stream_;
  std::vector<uint64_t> begin_;    // [n_mixtures + 1]
  std::vector<uint64_t> numbers_;  // numbers of shares
};

}  // namespace asr::train
