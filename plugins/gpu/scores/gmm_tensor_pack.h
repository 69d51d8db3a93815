// SPDX-License-Identifier: Apache-2.0
// TensorPacker packs the states of a feature stream for tensor cores (gmm_tensor.h) and finds the states that keep the
// tolerance there. Back ends use it when a model is loaded.
#pragma once

#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"
#include "plugins/gpu/scores/gmm_tensor.h"

namespace asr {

// Packed tiles or blocks of tiles, and the indices at which a stretch may begin. A tile of the diagonal kernel in
// memory has {hi, hi, lo, lo} of 32 lanes for each 16 values of k. Then come {hi, lo} of 32 lanes for a last 8 values,
// and TileInfo. A block of the expanded kernel: for each step of 16 values of k, each of 8 tiles has {hi, hi, lo, lo}
// of 32 lanes. A halved model has no lo.
struct TensorPack {
  bool halved = false;
  uint32_t n_steps = 0;  // steps of 8 values of k (diagonal) or 16 (expanded)
  std::vector<uint32_t> fragments;
  std::vector<TileInfo> tiles;      // for the expanded kernel and for wgmma
  std::vector<uint32_t> monomials;  // for the expanded kernel: phi_k = x_i x_j, i | j << 16, where x_n = 1 and x_n+1 = 0
  std::vector<uint32_t> starts;     // tiles (diagonal) or blocks (expanded) at which a state begins, and the end
  // 0, or states lie by fours, each four in so many tiles (kMaxFourTiles, or half of it): column 2 q and the next one of all
  // of them are the q-th state's, so that lane q of a quad finds all its Gaussians. `starts` are those of the fours.
  uint32_t four_tiles = 0;
};

// halved: a model without lo, of states that fit so (which_fit()). wgmma, of diagonal Gaussians: tiles for products of
// warpgroups: for each 8 values of k, hi of 8 Gaussians, 16 bytes each; then the same of lo; TileInfo apart. Small mixtures of
// one size lie by fours then; a part of a model lies as the whole, whose TensorPack::four_tiles it is given.
struct TensorLayout {
  bool wgmma = false, halved = false;
  std::optional<uint32_t> four_tiles = std::nullopt;
};

// TensorFit says of a state's Gaussians that they lose the tolerance on tensor cores, or keep it, or also stay near enough if
// they are halved.
enum class TensorFit : uint8_t { kNone, kWhole, kHalved };

// Returns true if the diagonal kernel serves a stream; otherwise the expanded one does.
bool uses_diagonal_kernel(asr_covariance covariance, uint32_t n_dims);

class TensorPacker {
 public:
  TensorPacker(const asr_acoustic_view &view, const std::vector<float> &centre, ThreadPool &pool)
      : view_(view), centre_(centre), pool_(pool) {}

  std::vector<TensorDim> dims_of(uint32_t stream) const;
  // halves: whether states fit halved is asked, too.
  std::vector<TensorFit> which_fit(uint32_t stream, const std::vector<uint32_t> &states, const std::vector<TensorDim> &dims,
                                   bool halves = false) const;
  TensorPack pack(uint32_t stream, const std::vector<uint32_t> &states, const std::vector<TensorDim> &dims,
                  const TensorLayout &layout) const;

 private:
  struct Expanded;
  struct States;  // the states to pack
  bool full() const { return view_.covariance == ASR_COVARIANCE_FULL; }
  std::vector<uint32_t> monomials_of(uint32_t n_dims) const;
  Expanded expand(const asr_gmm_codebook &codebook, uint32_t gaussian, double log_weight,
                  const std::vector<TensorDim> &dims) const;
  bool halve(const std::vector<TensorDim> &dims, Expanded *expanded) const;
  double shape_change(uint32_t n_dims, const Expanded &expanded, const std::vector<double> &differences) const;
  TensorFit fit_of(uint32_t state, uint32_t stream, const std::vector<TensorDim> &dims, bool halves) const;
  uint32_t n_gaussians(const States &states, uint32_t state) const;
  template <typename Put>
  void put_gaussian(const States &states, uint32_t state, uint32_t k, bool halved, float *constant, Put &&put) const;
  uint32_t four_tiles_of(const States &states, uint32_t n_tiles) const;
  void place_tiles(const States &states, const TensorLayout &layout, TensorPack *pack) const;
  TensorPack pack_diagonal(const States &states, const TensorLayout &layout) const;
  TensorPack pack_expanded(const States &states, bool halved) const;

  const asr_acoustic_view &view_;
  const std::vector<float> &centre_;
  ThreadPool &pool_;
};

}  // namespace asr
