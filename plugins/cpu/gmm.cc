// SPDX-License-Identifier: Apache-2.0
// Computes loglike[t][s] for every frame and state (equations G1-G4; double reference tests/reference/gmm.cc). This file
// orders the work; the arithmetic is in gmm_diagonal.cc, gmm_full.cc and gmm_shared.cc.
//
// A task is one block of states with its own codebooks, or one shared codebook and a tile of frames. A block's Gaussians serve
// all frames of a window; a tile reads them from memory again only if they have left the cache. The scores of single Gaussians
// stay in the cache of the core. Feature streams are processed one after another; each adds to the rows.
#include "plugins/cpu/gmm.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/gmm_kernels.h"
#include "plugins/cpu/gmm_pack.h"

namespace asr::cpu {
namespace {

constexpr float kLn2 = 0.69314718f;

// The rows of a call and the destination of a stream's scores: the first stream writes, the others add.
struct Rows {
  size_t n_rows, n_states;
  const float *x;  // [groups][dims][kGroupFrames]
  float *loglikes;
  bool add;

  void put(size_t first_row, size_t n, const std::vector<uint32_t> &states, size_t n_lanes, const float *block) const {
    for (size_t t = 0; t < n; ++t) {
      float *const row = loglikes + (first_row + t) * n_states;
      for (size_t lane = 0; lane < states.size(); ++lane) {
        float &out = row[states[lane]];
        out = add ? out + block[t * n_lanes + lane] : block[t * n_lanes + lane];
      }
    }
  }
};

// Returns the stream's features, centred, in the order of the kernels.
AlignedFloats pack_rows(const GmmStream &stream, const float *features, size_t n_rows, size_t n_features) {
  const size_t n_dims = stream.dims.size();
  const size_t n_groups = (n_rows + kGroupFrames - 1) / kGroupFrames;
  AlignedFloats packed(n_groups * n_dims * kGroupFrames);
  std::fill_n(packed.data(), n_groups * n_dims * kGroupFrames, 0.0f);
  for (size_t t = 0; t < n_rows; ++t) {
    float *const group = packed.data() + t / kGroupFrames * n_dims * kGroupFrames + t % kGroupFrames;
    const float *const row = features + t * n_features;
    for (size_t d = 0; d < n_dims; ++d) group[d * kGroupFrames] = row[stream.dims[d]] - stream.centre[d];
  }
  return packed;
}

// TileScores has the scores of a tile's Gaussians of one shared codebook, and the Gaussians that a selection chose.
struct TileScores {
  size_t n_gaussians, n_frames, n_lanes;
  const float *score, *relative, *best;  // see SharedKernels
  size_t n_chosen = 0;                   // 0: all are mixed
  const ChosenGaussian *chosen = nullptr;

  // Returns ln sum_k 2^(log_weight[k] + score[k]) of all Gaussians, for states whose sum of linear weights and relative scores
  // has underflowed.
  float mix_exactly(const float *log_weight, size_t t) const {
    if (!(best[t] > kLogZero)) return float(double(kLogZero) * double(kLn2));  // of rows beyond all Gaussians no term is left
    const auto at = [&](size_t k) {
      return std::max(double(log_weight[k]) + score[(k / n_lanes * n_frames + t) * n_lanes + k % n_lanes], double(kLogZero));
    };
    double best_term = kLogZero, sum = 0;
    for (size_t k = 0; k < n_gaussians; ++k) best_term = std::max(best_term, at(k));
    for (size_t k = 0; k < n_gaussians; ++k) sum += std::exp2(at(k) - best_term);
    return float((best_term + std::log2(sum)) * double(kLn2));
  }
};

}  // namespace

struct Gmm::Packed {
  Packed(const asr_acoustic_view &view, const GmmOptions &options)
      : n_dims(view.n_dims),
        n_states(view.n_states),
        n_best(options.n_best_gaussians),
        halved(options.halved && fits_halves(view)),
        gaussians(view.covariance == ASR_COVARIANCE_FULL ? full_kernels(halved) : diagonal_kernels(halved)),
        shared(shared_kernels()),
        streams(pack_gmm(view, gaussians.n_lanes, halved)) {}

  void score_own(const GmmStream &stream, const OwnBlock &block, const Rows &rows) const;
  void score_shared(const SharedCodebook &codebook, size_t n_dims_of_stream, const Rows &rows, size_t first_row) const;

  void mix(const MixingBlock &block, const MixingBlock &next, const TileScores &tile, float *mixed) const;

  uint32_t n_dims, n_states;
  size_t n_best;  // Gaussians of a shared codebook that are mixed, 0: all
  bool halved;
  GaussianKernels gaussians;
  SharedKernels shared;
  std::vector<GmmStream> streams;
};

void Gmm::Packed::score_own(const GmmStream &stream, const OwnBlock &block, const Rows &rows) const {
  const size_t n_dims_of_stream = stream.dims.size();
  const char *const model = stream.own_gaussians.bytes() + block.first_byte;
  alignas(64) float scores[kMaxTileFrames * kMaxLanes];
  for (size_t t = 0; t < rows.n_rows; t += gaussians.n_tile_frames) {
    const size_t n = std::min(gaussians.n_tile_frames, rows.n_rows - t);
    gaussians.mixtures(model, n_dims_of_stream, block.n_gaussians, rows.x + t * n_dims_of_stream, n, scores);
    rows.put(t, n, block.states, gaussians.n_lanes, scores);
  }
}

// Mixes the scores of a tile's Gaussians for the states of a block; `next` is mixed after it.
void Gmm::Packed::mix(const MixingBlock &block, const MixingBlock &next, const TileScores &tile, float *mixed) const {
  const float *const weights = block.weights.data(), *const shift = block.weight_shift.data();
  const float *const next_weights = next.weights.data();
  const bool any_lost =
      tile.n_chosen > 0
          ? shared.mix_chosen(weights, shift, next_weights, tile.chosen, tile.n_chosen, tile.best, tile.n_frames, mixed)
          : shared.mix(weights, shift, next_weights, tile.n_gaussians, tile.relative, tile.best, tile.n_frames, mixed);
  for (size_t t = 0; any_lost && t < tile.n_frames; ++t) {
    for (size_t lane = 0; lane < block.states.size(); ++lane) {
      float &out = mixed[t * tile.n_lanes + lane];
      if (!std::isfinite(out)) out = tile.mix_exactly(block.log_weights.data() + lane * tile.n_gaussians, t);
    }
  }
}

void Gmm::Packed::score_shared(const SharedCodebook &codebook, size_t n_dims_of_stream, const Rows &rows,
                               size_t first_row) const {
  const size_t n_lanes = gaussians.n_lanes;
  const size_t n = std::min(gaussians.n_tile_frames, rows.n_rows - first_row);
  alignas(64) float best[kMaxTileFrames], mixed[kMaxTileFrames * kMaxLanes];
  AlignedFloats score(codebook.n_vectors * n * n_lanes), relative(codebook.n_vectors * n * n_lanes);
  gaussians.scores(codebook.gaussians.bytes(), n_dims_of_stream, codebook.n_vectors, rows.x + first_row * n_dims_of_stream, n,
                   score.data());
  shared.relative(score.data(), codebook.n_vectors, n, best, relative.data());
  TileScores tile{codebook.n_gaussians, n, n_lanes, score.data(), relative.data(), best};
  std::vector<ChosenGaussian> chosen;
  if (n_best > 0 && n_best < codebook.n_gaussians) {
    chosen.resize(n * n_best);
    shared.choose(relative.data(), codebook.n_gaussians, n, n_best, chosen.data());
    tile.n_chosen = n_best;
    tile.chosen = chosen.data();
  }
  for (size_t i = 0; i < codebook.blocks.size(); ++i) {
    const MixingBlock &block = codebook.blocks[i];
    mix(block, codebook.blocks[std::min(i + 1, codebook.blocks.size() - 1)], tile, mixed);
    rows.put(first_row, n, block.states, n_lanes, mixed);
  }
}

Gmm::Gmm(const asr_acoustic_view &view, const GmmOptions &options) : packed_(std::make_unique<const Packed>(view, options)) {}
Gmm::~Gmm() = default;
uint32_t Gmm::n_dims() const { return packed_->n_dims; }
uint32_t Gmm::n_states() const { return packed_->n_states; }

void Gmm::score(const float *features, uint32_t n_rows, float *loglikes, ThreadPool &pool) const {
  const size_t n_tile_frames = packed_->gaussians.n_tile_frames;
  const size_t n_tiles = (n_rows + n_tile_frames - 1) / n_tile_frames;
  bool add = false;
  for (const GmmStream &stream : packed_->streams) {
    const AlignedFloats x = pack_rows(stream, features, n_rows, packed_->n_dims);
    const Rows rows{n_rows, packed_->n_states, x.data(), loglikes, add};
    pool.run(stream.own.size() + stream.shared.size() * n_tiles, [&](size_t task) {
      if (task < stream.own.size()) return packed_->score_own(stream, stream.own[task], rows);
      task -= stream.own.size();
      packed_->score_shared(stream.shared[task / n_tiles], stream.dims.size(), rows, task % n_tiles * n_tile_frames);
    });
    add = true;
  }
}

}  // namespace asr::cpu
