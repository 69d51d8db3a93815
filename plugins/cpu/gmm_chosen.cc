// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/gmm_chosen.h"

#include <algorithm>

namespace asr::cpu {

void ChosenStates::begin(const Gmm::Packed &model, const GmmStream &stream, const float *x, size_t n_frames) {
  n_lanes_ = model.gaussians.n_lanes, stride_ = stream.own.size() * n_lanes_;
  const size_t n_loglikes = n_frames * stride_, n_clusters = n_frames * stream.clusters.n;
  if (room_ < n_loglikes) {
    loglikes_ = AlignedFloats(n_loglikes);
    room_ = n_loglikes;
  }
  if (chosen_.size() < n_clusters) chosen_.resize(n_clusters);
  model_ = &model, stream_ = &stream, x_ = x, n_frames_ = n_frames;
}

void ChosenStates::choose(size_t first, size_t end) {
  constexpr size_t kBlocks = 8;  // whose scores stay in the L1 cache
  const PackedClusters &clusters = stream_->clusters;
  const size_t n_dims = stream_->dims.size(), n_blocks = stream_->own.size();
  const size_t n_nearest = (clusters.n + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  AlignedFloats nearest(kAskedFrames * n_nearest);  // [frames of a tile][clusters]
  alignas(64) float scores[kBlocks * kAskedFrames * kMaxLanes];
  for (size_t t = first; t < end; t += kAskedFrames) {
    const size_t n = std::min(kAskedFrames, end - t);
    std::fill_n(nearest.data(), n * n_nearest, kLogZero);
    for (size_t b = 0; b < n_blocks; b += kBlocks) {
      const size_t last = std::min(n_blocks, b + kBlocks);
      model_->gaussians.scores(clusters.singles.bytes() + b * clusters.vector_bytes, n_dims, last - b, x_ + t * n_dims, n,
                               scores);
      for (size_t i = b; i < last; ++i) {
        model_->clusters.approach(scores + (i - b) * n * n_lanes_, n, loglikes_.data() + t * stride_ + i * n_lanes_, stride_,
                                  nearest.data() + stream_->own[i].cluster, n_nearest);
      }
    }
    for (size_t i = 0; i < n; ++i) {
      model_->clusters.choose(nearest.data() + i * n_nearest, clusters.n, clusters.n_chosen,
                              chosen_.data() + (t + i) * clusters.n);
    }
  }
}

// Gathers the frames that chose the block's cluster, and scores them together.
void ChosenStates::score(size_t number) {
  const OwnBlock &block = stream_->own[number];
  const size_t n_dims = stream_->dims.size(), n_max = std::min(model_->gaussians.n_tile_frames, kMaxFrames);
  uint32_t frames[kMaxFrames];
  AlignedFloats gathered;
  size_t n = 0;
  const auto score_gathered = [&] {
    if (n == 0) return;
    alignas(64) float scores[kMaxFrames * kMaxLanes];
    model_->gaussians.mixtures(stream_->gaussians_of(block), n_dims, block.n_gaussians, gathered.data(), n, scores);
    for (size_t i = 0; i < n; ++i) {
      std::copy_n(scores + i * n_lanes_, n_lanes_, loglikes_.data() + frames[i] * stride_ + number * n_lanes_);
    }
    n = 0;
  };
  for (size_t t = 0; t < n_frames_; ++t) {
    if (chosen_[t * stream_->clusters.n + block.cluster] == 0) continue;
    if (gathered.data() == nullptr) gathered = AlignedFloats(n_max * n_dims);
    const float *const from = x_ + t / kGroupFrames * n_dims * kGroupFrames + t % kGroupFrames;
    float *const to = gathered.data() + n / kGroupFrames * n_dims * kGroupFrames + n % kGroupFrames;
    for (size_t d = 0; d < n_dims; ++d) to[d * kGroupFrames] = from[d * kGroupFrames];
    frames[n++] = uint32_t(t);
    if (n == n_max) score_gathered();
  }
  score_gathered();
}

}  // namespace asr::cpu
