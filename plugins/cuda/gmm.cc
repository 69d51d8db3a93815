// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/gmm.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kMaxDims = 190;  // of a stream: 64 rows of features in 48 KiB of shared memory

}  // namespace

struct Gmm::Stream {
  bool full = false, diagonal_kernel = false, wgmma = false, halved = false;
  DeviceArray<GmmDim> dims;
  // FP32
  DirectModel direct{};
  DeviceArray<float> fours;
  DeviceArray<DirectState> states;
  DeviceArray<SharedStates> shared;
  DeviceArray<float4> log_weights;
  uint32_t n_shared_fours = 0, first_shared_four = 0;
  // Tensor cores
  TensorModel tensor{};
  DeviceArray<uint32_t> fragments, monomials, stretches[kShapes];
  DeviceArray<TileInfo> tiles;
};

Gmm::Gmm(Device &device, const asr_acoustic_view &view) : device_(device), n_dims_(view.n_dims), n_states_(view.n_states) {
  const bool any_diagonal = device.has_tensor_cores() && device.shared_bytes() >= diagonal_tensor_shared_bytes();
  const bool any_expanded = device.has_tensor_cores() && device.shared_bytes() >= expanded_tensor_shared_bytes();
  if (any_diagonal) check(prepare_diagonal_tensor(), "preparing the scoring kernels");
  if (device.has_wgmma()) check(prepare_diagonal_wgmma(), "preparing the scoring kernels");
  if (any_expanded) check(prepare_expanded_tensor(), "preparing the scoring kernels");
  const GmmPacker packer(view, device.pool());
  for (uint32_t j = 0; j < view.n_streams; ++j) {
    Stream &stream = streams_.emplace_back();
    const uint32_t n_dims = view.streams[j].n_dims;
    if (n_dims > kMaxDims)
      fail(ASR_UNSUPPORTED, "acoustic model: %u features in a stream; the GPU takes up to %u", n_dims, kMaxDims);
    stream.full = view.covariance == ASR_COVARIANCE_FULL;
    stream.diagonal_kernel = uses_diagonal_kernel(view.covariance, n_dims);
    stream.wgmma = stream.diagonal_kernel && device.has_wgmma();
    stream.halved = stream.wgmma && device.halves_models();
    const GmmParts parts = packer.parts(j, stream.diagonal_kernel ? any_diagonal : any_expanded);
    stream.dims = to_device(parts.dims);

    const DirectPack direct = packer.direct(j, parts);
    stream.fours = to_device(direct.fours);
    stream.states = to_device(direct.states);
    stream.shared = to_device(direct.shared);
    stream.log_weights = to_device(direct.log_weights);
    stream.n_shared_fours = direct.n_shared_fours, stream.first_shared_four = direct.first_shared_four;
    stream.direct = {reinterpret_cast<const float4 *>(stream.fours.data()), stream.dims.data(), n_dims, stream.full};
    if (!parts.tensor_states.empty()) load_tensor(packer.tensor(j, parts, {stream.wgmma, stream.halved}), &stream);
  }
}

Gmm::~Gmm() = default;

void Gmm::load_tensor(const TensorPack &pack, Stream *stream) {
  stream->fragments = to_device(pack.fragments);
  stream->tiles = to_device(pack.tiles);
  stream->monomials = to_device(pack.monomials);
  TensorModel &model = stream->tensor;
  model = {reinterpret_cast<const uint4 *>(stream->fragments.data()),
           stream->tiles.data(),
           stream->dims.data(),
           static_cast<uint32_t>(stream->dims.size()),
           pack.n_steps,
           {},
           {}};
  const uint32_t n_most = device_.n_multiprocessors() * (stream->wgmma             ? kWarpgroups
                                                         : stream->diagonal_kernel ? kDiagonalBlocks * kTensorWarps
                                                                                   : kTensorWarps);
  for (uint32_t shape = 0; shape < kShapes; ++shape) {
    model.n_stretches[shape] = n_most >> shape;
    stream->stretches[shape] = to_device(cut_stretches(pack.starts, model.n_stretches[shape]));
    model.stretches[shape] = stream->stretches[shape].data();
  }
}

void Gmm::score(const float *features, uint32_t n_rows, float *scores, cudaStream_t stream) {
  GmmRows rows = {features, scores, n_rows, n_dims_, n_states_, false};
  for (const Stream &s : streams_) {
    if (s.fragments.size() > 0 && s.diagonal_kernel) {
      if (s.wgmma)
        launch_diagonal_wgmma(s.tensor, s.halved, rows, stream);
      else
        launch_diagonal_tensor(s.tensor, rows, stream);
    }
    if (s.fragments.size() > 0 && !s.diagonal_kernel) {
      const size_t n_row_tiles = (n_rows + 15) / 16;
      expanded_.reserve(n_row_tiles * s.tensor.n_steps * 64);
      inverse_scale_.reserve(n_row_tiles * 16);
      const ExpandedRows expanded = {expanded_.data(), inverse_scale_.data()};
      launch_expand(s.tensor, s.monomials.data(), rows, expanded, stream);
      launch_expanded_tensor(s.tensor, rows, expanded, stream);
    }
    if (s.states.size() > 0) {
      launch_direct_states(s.direct, s.states.data(), static_cast<uint32_t>(s.states.size()), rows, stream);
    }
    if (s.n_shared_fours > 0) {
      gaussian_scores_.reserve(size_t{4} * s.n_shared_fours * n_rows);
      DirectModel shared = s.direct;
      shared.fours += size_t{s.first_shared_four} * direct_four_size(s.direct.n_dims, s.full);
      launch_direct_scores(shared, s.n_shared_fours, rows, gaussian_scores_.data(), stream);
      launch_mix_shared(s.shared.data(), static_cast<uint32_t>(s.shared.size()), s.log_weights.data(), gaussian_scores_.data(),
                        rows, stream);
    }
    rows.add = true;
  }
}

}  // namespace asr::cuda
