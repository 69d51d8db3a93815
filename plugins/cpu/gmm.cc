// SPDX-License-Identifier: Apache-2.0
// Computes loglike[t][s] for every frame and state (equations G1-G4; double reference reference/gmm.cc). This file
// orders the work; the arithmetic is in gmm_diagonal.cc, gmm_full.cc and gmm_shared.cc.
//
// A task is one block of states with its own codebooks, or one shared codebook and a tile of frames. A block's Gaussians serve
// all frames of a window; a tile reads them from memory again only if they have left the cache. The scores of single Gaussians
// stay in the cache of the core. Feature streams are processed one after another; each adds to the rows.
#include "plugins/cpu/gmm.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/gmm_chosen.h"
#include "plugins/cpu/gmm_scorer.h"

namespace asr::cpu {
namespace {

constexpr float kLn2 = 0.69314718f;

// The rows of a call and the destination of a stream's scores: the first stream writes, the others add.
struct Rows {
  size_t n_rows, n_states, n_lanes;
  const float *x;  // [groups][dims][kGroupFrames]
  float *loglikes;
  bool add;

  void put(size_t first_row, size_t n, const std::vector<uint32_t> &states, const float *block) const {
    const bool consecutive = are_consecutive(states);
    for (size_t t = 0; t < n; ++t, block += n_lanes) {
      float *const row = loglikes + (first_row + t) * n_states;
      if (consecutive) {
        put(block, states.size(), row + states.front());
      } else {
        for (size_t lane = 0; lane < states.size(); ++lane) put(block + lane, 1, row + states[lane]);
      }
    }
  }
  // Puts scores into a row: state lanes[i].state gets scores[lanes[i].lane].
  void put(size_t row, const std::vector<StateLane> &lanes, const float *scores) const {
    float *const out = loglikes + row * n_states;
    if (add) {
      for (const StateLane &of : lanes) out[of.state] += scores[of.lane];
    } else {
      for (const StateLane &of : lanes) out[of.state] = scores[of.lane];
    }
  }
  void put(const float *scores, size_t n, float *out) const {
    if (add) {
      for (size_t i = 0; i < n; ++i) out[i] += scores[i];
    } else {
      for (size_t i = 0; i < n; ++i) out[i] = scores[i];
    }
  }
};

void score_own(const Gmm::Packed &model, const GmmStream &stream, const OwnBlock &block, const Rows &rows) {
  const size_t n_dims = stream.dims.size();
  alignas(64) float scores[kMaxTileFrames * kMaxLanes];
  for (size_t t = 0; t < rows.n_rows; t += model.gaussians.n_tile_frames) {
    const size_t n = std::min(model.gaussians.n_tile_frames, rows.n_rows - t);
    model.gaussians.mixtures(stream.gaussians_of(block), n_dims, block.n_gaussians, rows.x + t * n_dims, n, scores);
    rows.put(t, n, block.states, scores);
  }
}

// Scores the states of a stream whose frames choose clusters, of so many rows at a time that their scores stay in the cache.
void score_chosen(const Gmm::Packed &model, const GmmStream &stream, const Rows &rows, ThreadPool &pool, ChosenStates &chosen) {
  for (size_t first = 0; first < rows.n_rows; first += ChosenStates::kMaxFrames) {
    const size_t n = std::min(ChosenStates::kMaxFrames, rows.n_rows - first);
    chosen.begin(model, stream, rows.x + first * stream.dims.size(), n);
    pool.run((n + kAskedFrames - 1) / kAskedFrames,
             [&](size_t tile) { chosen.choose(tile * kAskedFrames, std::min(n, (tile + 1) * kAskedFrames)); });
    pool.run(stream.own.size(), [&](size_t block) { chosen.score(block); });
    pool.run(n, [&](size_t t) { rows.put(first + t, stream.clusters.lane_of, chosen.loglikes(0, t)); });
  }
}

void score_shared(const Gmm::Packed &model, const GmmStream &stream, const SharedCodebook &codebook, const Rows &rows,
                  size_t first_row) {
  const size_t n = std::min(model.gaussians.n_tile_frames, rows.n_rows - first_row);
  CodebookTile tile;
  tile.score(model, stream, codebook, rows.x + first_row * stream.dims.size(), n);
  alignas(64) float mixed[kMaxTileFrames * kMaxLanes];
  for (size_t i = 0; i < codebook.blocks.size(); ++i) {
    const MixingBlock &block = codebook.blocks[i];
    tile.mix(block, codebook.blocks[std::min(i + 1, codebook.blocks.size() - 1)], mixed);
    rows.put(first_row, n, block.states, mixed);
  }
}

}  // namespace

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

void CodebookTile::score(const Gmm::Packed &model, const GmmStream &stream, const SharedCodebook &codebook, const float *x,
                         size_t n_frames) {
  model_ = &model, codebook_ = &codebook, n_frames_ = n_frames;
  const size_t n = codebook.n_vectors * n_frames * model.gaussians.n_lanes;
  if (room_ < n) {
    score_ = AlignedFloats(n), relative_ = AlignedFloats(n);
    room_ = n;
  }
  best_.resize(n_frames);
  model.gaussians.scores(codebook.gaussians.bytes(), stream.dims.size(), codebook.n_vectors, x, n_frames, score_.data());
  model.shared.relative(score_.data(), codebook.n_vectors, n_frames, best_.data(), relative_.data());
  n_chosen_ = model.n_best < codebook.n_gaussians ? model.n_best : 0;
  if (n_chosen_ == 0) return;
  chosen_.resize(n_frames * n_chosen_);
  model.shared.choose(relative_.data(), codebook.n_gaussians, n_frames, n_chosen_, chosen_.data());
}

void CodebookTile::mix(const MixingBlock &block, const MixingBlock &next, float *mixed) const {
  const SharedKernels &kernels = model_->shared;
  const size_t n_lanes = model_->gaussians.n_lanes;
  const float *const weights = block.weights.data(), *const shift = block.weight_shift.data();
  const float *const next_weights = next.weights.data();
  const bool any_lost =
      n_chosen_ > 0
          ? kernels.mix_chosen(weights, shift, next_weights, chosen_.data(), n_chosen_, best_.data(), n_frames_, mixed)
          : kernels.mix(weights, shift, next_weights, codebook_->n_gaussians, relative_.data(), best_.data(), n_frames_, mixed);
  for (size_t t = 0; any_lost && t < n_frames_; ++t) {
    for (size_t lane = 0; lane < block.states.size(); ++lane) {
      float &out = mixed[t * n_lanes + lane];
      if (!std::isfinite(out)) out = mix_exactly(block.log_weights.data() + lane * codebook_->n_gaussians, t);
    }
  }
}

// Returns ln sum_k 2^(log_weight[k] + score[k]) of all Gaussians, for states whose sum of linear weights and relative scores
// has underflowed.
float CodebookTile::mix_exactly(const float *log_weight, size_t t) const {
  const size_t n_lanes = model_->gaussians.n_lanes;
  if (!(best_[t] > kLogZero)) return float(double(kLogZero) * double(kLn2));  // of rows beyond all Gaussians no term is left
  const auto at = [&](size_t k) {
    const float score = score_.data()[(k / n_lanes * n_frames_ + t) * n_lanes + k % n_lanes];
    return std::max(double(log_weight[k]) + score, double(kLogZero));
  };
  double best_term = kLogZero, sum = 0;
  for (size_t k = 0; k < codebook_->n_gaussians; ++k) best_term = std::max(best_term, at(k));
  for (size_t k = 0; k < codebook_->n_gaussians; ++k) sum += std::exp2(at(k) - best_term);
  return float((best_term + std::log2(sum)) * double(kLn2));
}

Gmm::Packed::Packed(const asr_acoustic_view &view, const GmmOptions &options)
    : n_dims(view.n_dims),
      n_states(view.n_states),
      n_best(options.n_best_gaussians),
      shared(shared_kernels()),
      clusters(cluster_kernels()) {
  const bool halved = options.halved && fits_halves(view);
  gaussians = view.covariance == ASR_COVARIANCE_FULL ? full_kernels(halved) : diagonal_kernels(halved);
  streams = pack_gmm(view, gaussians.n_lanes, halved, options.cluster_share);
}

Gmm::Gmm(const asr_acoustic_view &view, const GmmOptions &options) : packed_(std::make_unique<const Packed>(view, options)) {}

Gmm::~Gmm() = default;
uint32_t Gmm::n_dims() const { return packed_->n_dims; }
uint32_t Gmm::n_states() const { return packed_->n_states; }

double Gmm::row_cost() const {
  constexpr double kGaussian = 24, kMixture = 40;  // exponential and sums of a Gaussian; logarithm and output of a mixture
  double cost = 0;
  for (const GmmStream &stream : packed_->streams) {
    const double of_gaussian = kGaussian + double(stream.layout.size());
    const PackedClusters &clusters = stream.clusters;
    const double chosen = clusters.n > 0 ? double(clusters.n_chosen) / double(clusters.n) : 1;
    for (const OwnBlock &block : stream.own) cost += kMixture + chosen * double(block.n_gaussians) * of_gaussian;
    if (clusters.n > 0) cost += double(stream.own.size()) * double(stream.layout.size());
    for (const SharedCodebook &codebook : stream.shared) {
      cost +=
          double(codebook.n_vectors) * of_gaussian + double(codebook.blocks.size()) * (kMixture + double(codebook.n_gaussians));
    }
  }
  return cost;
}

void Gmm::score(const float *features, uint32_t n_rows, float *loglikes, ThreadPool &pool, ChosenStates &chosen) const {
  const Packed &model = *packed_;
  const size_t n_tile_frames = model.gaussians.n_tile_frames, n_tiles = (n_rows + n_tile_frames - 1) / n_tile_frames;
  bool add = false;
  for (const GmmStream &stream : model.streams) {
    const AlignedFloats x = pack_rows(stream, features, n_rows, model.n_dims);
    const Rows rows{n_rows, model.n_states, model.gaussians.n_lanes, x.data(), loglikes, add};
    const bool chooses = stream.clusters.n > 0;
    if (chooses) score_chosen(model, stream, rows, pool, chosen);
    const size_t n_own = chooses ? 0 : stream.own.size();
    pool.run(n_own + stream.shared.size() * n_tiles, [&](size_t task) {
      if (task < n_own) return score_own(model, stream, stream.own[task], rows);
      task -= n_own;
      score_shared(model, stream, stream.shared[task / n_tiles], rows, task % n_tiles * n_tile_frames);
    });
    add = true;
  }
}

}  // namespace asr::cpu
