// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/gmm_pack.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "plugins/common/kernels/log_zero.h"
#include "plugins/common/packing.h"

namespace asr::ocl {
namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr size_t kTaskGaussians = 256;

uint32_t codebook_number(const asr_acoustic_view &view, uint32_t state, uint32_t stream) {
  return view.state_codebook[size_t{state} * view.n_streams + stream];
}

std::vector<std::vector<uint32_t>> states_by_codebook(const asr_acoustic_view &view, uint32_t stream) {
  std::vector<std::vector<uint32_t>> states_of(view.n_codebooks);
  for (uint32_t s = 0; s < view.n_states; ++s) states_of[codebook_number(view, s, stream)].push_back(s);
  return states_of;
}

// In their order.
std::vector<uint32_t> own_states(const std::vector<std::vector<uint32_t>> &states_of) {
  std::vector<uint32_t> own;
  for (const std::vector<uint32_t> &states : states_of) {
    if (states.size() == 1) own.push_back(states[0]);
  }
  std::sort(own.begin(), own.end());
  return own;
}

class Packer {
 public:
  Packer(const asr_acoustic_view &view, uint32_t stream, const std::vector<float> &centre, GmmLayout layout)
      : view_(view), stream_(stream), centre_(centre), layout_(layout) {
    n_dims_ = view.streams[stream].n_dims;
    n_padded_ = (n_dims_ + layout.dims - 1) / layout.dims * layout.dims;
    size_ = full() ? 1 : 1 + 2 * n_padded_;
    for (uint32_t i = 0; full() && i < n_dims_; i += layout.factor_rows) {
      size_ += layout.factor_rows * (1 + n_padded_ - row_begin(i));
    }
    pack_.four_size = size_;
  }

  GmmPack pack(const std::vector<uint32_t> &others, ThreadPool &pool) {
    for (uint32_t d = 0; d < n_dims_; ++d) {
      const uint32_t dim = view_.streams[stream_].dims[d];
      pack_.dims.push_back({dim, centre_[dim]});
    }
    const std::vector<std::vector<uint32_t>> states_of = states_by_codebook(view_, stream_);
    std::vector<uint32_t> own = own_states(states_of), packed;
    std::set_difference(own.begin(), own.end(), others.begin(), others.end(), std::back_inserter(packed));
    add_blocks(packed);
    add_shared(states_of);
    pool.run((gaussians_.size() + kTaskGaussians - 1) / kTaskGaussians, [&](size_t task) {
      const size_t end = std::min(gaussians_.size(), (task + 1) * kTaskGaussians);
      for (size_t i = task * kTaskGaussians; i < end; ++i) put(gaussians_[i]);
    });
    return std::move(pack_);
  }

 private:
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  uint32_t codebook_number(uint32_t state) const { return asr::ocl::codebook_number(view_, state, stream_); }
  const float *log_weights(uint32_t state) const {
    return view_.log_weights + view_.state_weight[size_t{state} * view_.n_streams + stream_];
  }
  uint32_t n_rounds() const { return static_cast<uint32_t>(pack_.fours.size() / (size_t{4} * size_ * layout_.lanes)); }

  uint32_t row_begin(uint32_t i) const { return i / layout_.dims * layout_.dims; }  // of rows i ... of a triangle

  // So many rounds of fours without Gaussians.
  void add_rounds(uint32_t n) {
    const uint32_t first = n_rounds(), n_four_values = 4 * layout_.lanes;
    pack_.fours.resize(pack_.fours.size() + size_t{n} * size_ * n_four_values, 0.0f);
    for (uint32_t r = first; r < first + n; ++r) {
      std::fill_n(pack_.fours.begin() + static_cast<std::ptrdiff_t>(size_t{r} * size_ * n_four_values), n_four_values,
                  kLogZero);
    }
  }

  // Gaussian `number` of a codebook becomes number % 4 of the four of a lane in a round.
  struct Place {
    const asr_gmm_codebook *codebook;
    uint32_t number;
    float log_weight;
    uint32_t round, lane;
  };

  void put(const Place &place) {
    const PackedGaussian gaussian = pack_gaussian(view_, *place.codebook, place.number, centre_);
    if (place.log_weight == -INFINITY) return;
    const double scale = std::sqrt(kLog2E / 2);  // turns a factor of the precision into one of base-2 scores
    float *out = &pack_.fours[(size_t{place.round} * size_ * layout_.lanes + place.lane) * 4 + place.number % 4];
    const auto next = [&](double value) {
      *out = static_cast<float>(value);
      out += size_t{4} * layout_.lanes;
    };
    next(kLog2E * (double{place.log_weight} + gaussian.log_normaliser));
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

  // States that share with none, in blocks of like size.
  void add_blocks(const std::vector<uint32_t> &own) {
    std::vector<uint32_t> n_fours;
    for (const uint32_t s : own) n_fours.push_back((view_.codebooks[codebook_number(s)].n_gaussians + 3) / 4);
    const uint32_t block_states = layout_.lanes / layout_.parts;
    for (const std::vector<uint32_t> &block : blocks_by_size(n_fours, block_states)) {
      uint32_t longest = 0;
      for (const uint32_t i : block) longest = std::max(longest, n_fours[i]);
      const uint32_t first = n_rounds(), n = (longest + layout_.parts - 1) / layout_.parts;
      pack_.blocks.push_back({first, n});
      add_rounds(n);
      for (uint32_t b = 0; b < block_states; ++b) {
        pack_.states.push_back(b < block.size() ? own[block[b]] : view_.n_states);
        if (b < block.size()) put_state(own[block[b]], first, b);
      }
    }
  }

  void put_state(uint32_t state, uint32_t first_round, uint32_t place) {
    const asr_gmm_codebook &codebook = view_.codebooks[codebook_number(state)];
    const uint32_t block_states = layout_.lanes / layout_.parts;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const uint32_t four = k / 4;
      gaussians_.push_back({&codebook, k, log_weights(state)[k], first_round + four / layout_.parts,
                            four % layout_.parts * block_states + place});
    }
  }

  void add_shared(const std::vector<std::vector<uint32_t>> &states_of) {
    pack_.first_shared_value = pack_.fours.size();
    const uint32_t first_round = n_rounds();
    for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
      if (states_of[c].size() < 2) continue;
      const asr_gmm_codebook &codebook = view_.codebooks[c];
      const uint32_t first_four = pack_.n_shared_fours;
      pack_.n_shared_fours += (codebook.n_gaussians + 3) / 4;
      const uint32_t n_wanted = (pack_.n_shared_fours + layout_.lanes - 1) / layout_.lanes;
      add_rounds(first_round + n_wanted - n_rounds());
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
        const uint32_t four = first_four + k / 4;
        gaussians_.push_back({&codebook, k, 0, first_round + four / layout_.lanes, four % layout_.lanes});
      }
      add_shared_states(states_of[c], 4 * first_four, codebook.n_gaussians);
    }
  }

  void add_shared_states(const std::vector<uint32_t> &states, uint32_t first_gaussian, uint32_t n_gaussians) {
    for (size_t begin = 0; begin < states.size(); begin += 4) {
      GmmShared entry{first_gaussian, n_gaussians, static_cast<uint32_t>(pack_.log_weights.size()), 0, {}};
      for (size_t i = begin; i < std::min(states.size(), begin + 4); ++i) entry.states[entry.n_states++] = states[i];
      for (uint32_t k = 0; k < n_gaussians; ++k) {
        std::array<float, 4> weights{};
        for (uint32_t i = 0; i < entry.n_states; ++i) {
          weights[i] = static_cast<float>(kLog2E * log_weights(entry.states[i])[k]);
        }
        pack_.log_weights.push_back(weights);
      }
      pack_.shared.push_back(entry);
    }
  }

  const asr_acoustic_view &view_;
  const uint32_t stream_;
  const std::vector<float> &centre_;
  const GmmLayout layout_;
  uint32_t n_dims_ = 0, n_padded_ = 0, size_ = 0;
  std::vector<Place> gaussians_;  // to be put when there is room for all
  GmmPack pack_;
};

}  // namespace

std::vector<uint32_t> states_of_their_own(const asr_acoustic_view &view, uint32_t stream) {
  return own_states(states_by_codebook(view, stream));
}

GmmPack pack_stream(const asr_acoustic_view &view, uint32_t stream, const std::vector<float> &centre, GmmLayout layout,
                    const std::vector<uint32_t> &others, ThreadPool &pool) {
  return Packer(view, stream, centre, layout).pack(others, pool);
}

}  // namespace asr::ocl
