// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/scores/gmm_pack.h"

#include <algorithm>
#include <cmath>

#include "plugins/common/log_zero.h"
#include "plugins/common/packing.h"

namespace asr::gpu {
namespace {

constexpr size_t kTaskGaussians = 256;

class Packer {
 public:
  Packer(const asr_acoustic_view &view, uint32_t stream, const std::vector<float> &centre, const GmmLayout &layout, bool halved)
      : view_(view), stream_(stream), centre_(centre), layout_(layout), halved_(halved) {
    n_dims_ = view.streams[stream].n_dims;
    n_padded_ = (n_dims_ + layout.dims - 1) / layout.dims * layout.dims;
    n_constants_ = halved ? kHalvedConstants : 1;
    size_ = n_constants_ + (full() ? 0 : 2 * n_padded_);
    for (uint32_t i = 0; full() && i < n_dims_; i += layout.factor_rows) {
      size_ += layout.factor_rows * (1 + n_padded_ - row_begin(i));
    }
    pack_.four_size = size_;
  }

  GmmPack pack(const StreamStates &states, const StreamStates &whole, ThreadPool &pool) {
    for (uint32_t d = 0; d < n_dims_; ++d) {
      const uint32_t dim = view_.streams[stream_].dims[d];
      pack_.dims.push_back({dim, centre_[dim]});
    }
    add_blocks(states.direct, whole.direct);
    add_shared(states.of_shared);
    pool.run((gaussians_.size() + kTaskGaussians - 1) / kTaskGaussians, [&](size_t task) {
      const size_t end = std::min(gaussians_.size(), (task + 1) * kTaskGaussians);
      for (size_t i = task * kTaskGaussians; i < end; ++i) put(gaussians_[i]);
    });
    const bool fits = layout_.halving == Halving::kAlways || fit_.suffices(gaussians_.size());
    pack_.halved = halved_ && fits;
    pack_.fours = words_of(numbers_, halved_);
    return std::move(pack_);
  }

 private:
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  uint32_t n_rounds() const { return static_cast<uint32_t>(numbers_.size() / (size_t{4} * size_ * layout_.lanes)); }

  // Returns the column where row i of a triangle begins, rounded down to whole groups of `dims`.
  uint32_t row_begin(uint32_t i) const { return i / layout_.dims * layout_.dims; }

  // Appends n rounds of fours without Gaussians, whose constant in halves is -infinity, which kernels raise to kLogZero.
  void add_rounds(uint32_t n) {
    const uint32_t first = n_rounds(), n_four_values = 4 * layout_.lanes;
    numbers_.resize(numbers_.size() + size_t{n} * size_ * n_four_values, 0.0f);
    for (uint32_t r = first; r < first + n; ++r) {
      std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(size_t{r} * size_ * n_four_values), n_four_values, kLogZero);
    }
  }

  // Gaussian `number` of a codebook becomes number % 4 of the four of a lane in a round.
  struct Position {
    const asr_gmm_codebook *codebook;
    uint32_t number;
    float log_weight;
    uint32_t round, lane;
  };

  void put(const Position &position) {
    PackedGaussian gaussian = pack_gaussian(view_, *position.codebook, position.number, centre_);
    if (position.log_weight == -INFINITY) return;
    if (halved_) fit_.add(halve_gaussian(view_, *position.codebook, position.number, centre_, &gaussian));
    const double scale = kFactorScale;
    float *out = &numbers_[(size_t{position.round} * size_ * layout_.lanes + position.lane) * 4 + position.number % 4];
    const auto next = [&](double value) {
      *out = static_cast<float>(value);
      out += size_t{4} * layout_.lanes;
    };
    put_constant(kLog2E * (double{position.log_weight} + gaussian.log_normaliser), halved_ ? &fit_ : nullptr, next);
    if (!full()) {
      for (uint32_t i = 0; i < n_dims_; ++i) {
        next(-scale * gaussian.offset[i]);
        next(scale * gaussian.factor[i]);
      }
      return;
    }
    const auto factor = [&](uint32_t i, uint32_t j) {
      return i < n_dims_ && j >= i && j < n_dims_ ? scale * gaussian.factor[i * n_dims_ - i * (i + 1) / 2 + j] : 0;
    };
    for (uint32_t first = 0; first < n_dims_; first += layout_.factor_rows) {
      const uint32_t end = first + layout_.factor_rows;
      for (uint32_t i = first; i < end; ++i) next(i < n_dims_ ? -scale * gaussian.offset[i] : 0);
      for (uint32_t j = row_begin(first); j < n_padded_; ++j) {
        for (uint32_t i = first; i < end; ++i) next(factor(i, j));
      }
    }
  }

  uint32_t block_states() const { return layout_.lanes / layout_.parts; }

  // Adds states with codebooks of their own, in blocks of similar size. A state has the rounds of its block in the whole model,
  // which has the states `whole`: absent Gaussians count in rows that are beyond all others.
  void add_blocks(const std::vector<uint32_t> &own, const std::vector<uint32_t> &whole) {
    std::vector<uint32_t> n_fours, states;
    for (const uint32_t s : whole) n_fours.push_back((codebook_of(view_, s, stream_).n_gaussians + 3) / 4);
    uint32_t n_rounds_of_states = 0;
    for (const std::vector<uint32_t> &block : blocks_by_size(n_fours, block_states())) {
      uint32_t longest = 0;
      for (const uint32_t i : block) longest = std::max(longest, n_fours[i]);
      const uint32_t n = (longest + layout_.parts - 1) / layout_.parts;
      if (n != n_rounds_of_states) add_block(&states, n_rounds_of_states);
      n_rounds_of_states = n;
      for (const uint32_t i : block) {
        if (!std::binary_search(own.begin(), own.end(), whole[i])) continue;
        states.push_back(whole[i]);
        if (states.size() == block_states()) add_block(&states, n);
      }
    }
    add_block(&states, n_rounds_of_states);
  }

  // Adds a block of n rounds with these states, if there are any, and clears them.
  void add_block(std::vector<uint32_t> *states, uint32_t n) {
    if (states->empty()) return;
    const uint32_t first = n_rounds();
    pack_.blocks.push_back({first, n});
    add_rounds(n);
    for (uint32_t b = 0; b < states->size(); ++b) put_state((*states)[b], first, b);
    states->resize(block_states(), view_.n_states);
    pack_.states.insert(pack_.states.end(), states->begin(), states->end());
    states->clear();
  }

  void put_state(uint32_t state, uint32_t first_round, uint32_t position) {
    const asr_gmm_codebook &codebook = codebook_of(view_, state, stream_);
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const uint32_t four = k / 4;
      gaussians_.push_back({&codebook, k, log_weights_of(view_, state, stream_)[k], first_round + four / layout_.parts,
                            four % layout_.parts * block_states() + position});
    }
  }

  void add_shared(const std::vector<std::vector<uint32_t>> &of_shared) {
    pack_.first_shared_word = numbers_.size() / (halved_ ? 2 : 1);
    const uint32_t first_round = n_rounds();
    for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
      if (of_shared[c].empty()) continue;
      const asr_gmm_codebook &codebook = view_.codebooks[c];
      const uint32_t first_four = pack_.n_shared_fours;
      pack_.n_shared_fours += (codebook.n_gaussians + 3) / 4;
      const uint32_t n_wanted = (pack_.n_shared_fours + layout_.lanes - 1) / layout_.lanes;
      add_rounds(first_round + n_wanted - n_rounds());
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
        const uint32_t four = first_four + k / 4;
        gaussians_.push_back({&codebook, k, 0, first_round + four / layout_.lanes, four % layout_.lanes});
      }
      pack_shared_states(view_, stream_, of_shared[c], 4 * first_four, codebook.n_gaussians, &pack_.shared, &pack_.log_weights);
    }
  }

  const asr_acoustic_view &view_;
  const uint32_t stream_;
  const std::vector<float> &centre_;
  const GmmLayout layout_;
  const bool halved_;
  uint32_t n_dims_ = 0, n_padded_ = 0, n_constants_ = 1, size_ = 0;
  std::vector<float> numbers_;  // of the fours
  HalvedFit fit_;
  std::vector<Position> gaussians_;  // to be put when the buffer has its size
  GmmPack pack_;
};

}  // namespace

GmmPack pack_stream(const asr_acoustic_view &view, uint32_t stream, const std::vector<float> &centre, const GmmLayout &layout,
                    const StreamStates &states, const StreamStates &whole, ThreadPool &pool) {
  const bool halves = layout.halving != Halving::kNever;
  GmmPack pack = Packer(view, stream, centre, layout, halves).pack(states, whole, pool);
  if (pack.halved || !halves) return pack;
  return Packer(view, stream, centre, layout, false).pack(states, whole, pool);
}

}  // namespace asr::gpu
