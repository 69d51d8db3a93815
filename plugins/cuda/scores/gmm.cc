// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/scores/gmm.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kMaxDims = 190;  // limit of a stream: 64 rows of features in 48 KiB of shared memory

bool has_diagonal_tensor(const Device &device) {
  return device.has_tensor_cores() && device.shared_bytes() >= diagonal_tensor_shared_bytes();
}
bool has_expanded_tensor(const Device &device) {
  return device.has_tensor_cores() && device.shared_bytes() >= expanded_tensor_shared_bytes();
}

}  // namespace

struct Gmm::Stream {
  bool full = false, diagonal_kernel = false, wgmma = false, halved = false;
  StreamPlan plan;
  Array<GmmDim> dims;
  // FP32
  DirectModel direct{};
  Array<uint32_t> fours;
  Array<DirectState> states;
  Array<SharedStates> shared;
  Array<float4> log_weights;
  uint32_t n_shared_fours = 0, first_shared_four = 0;
  // Tensor cores
  TensorModel tensor{};
  Array<uint32_t> fragments, monomials, begins, stretches[kShapes];
  Array<TileInfo> tiles;
  uint32_t n_tiles = 0;
};

Gmm::Gmm(Device &device, const asr_acoustic_view &view)
    : device_(device), n_dims_(view.n_dims), n_states_(view.n_states), centre_(feature_centre(view)) {
  if (has_diagonal_tensor(device)) check(prepare_diagonal_tensor(), "preparing the scoring kernels");
  if (device.has_wgmma()) check(prepare_diagonal_wgmma(), "preparing the scoring kernels");
  if (has_expanded_tensor(device)) check(prepare_expanded_tensor(), "preparing the scoring kernels");
  for (uint32_t j = 0; j < view.n_streams; ++j) {
    const uint32_t n_dims = view.streams[j].n_dims;
    if (n_dims > kMaxDims)
      fail(ASR_UNSUPPORTED, "acoustic model: %u features in a stream; the GPU takes up to %u", n_dims, kMaxDims);
    load_stream(view, j, nullptr, nullptr);
  }
}

Gmm::Gmm(const Gmm &whole, const asr_acoustic_view &view, const StateSet &states)
    : device_(whole.device_), n_dims_(whole.n_dims_), n_states_(whole.n_states_), centre_(whole.centre_) {
  for (uint32_t j = 0; j < view.n_streams; ++j) load_stream(view, j, &whole, &states);
}

// `whole` and `states`: those of a part, else nullptr. A part has the formats of the whole.
void Gmm::load_stream(const asr_acoustic_view &view, uint32_t j, const Gmm *whole, const StateSet *states) {
  const GmmPacker packer(view, centre_, device_.pool());
  Stream &stream = streams_.emplace_back();
  const uint32_t n_dims = view.streams[j].n_dims;
  stream.full = view.covariance == ASR_COVARIANCE_FULL;
  stream.diagonal_kernel = uses_diagonal_kernel(view.covariance, n_dims);
  stream.wgmma = stream.diagonal_kernel && device_.has_wgmma();
  Halving halving = device_.halves_models() ? Halving::kIfTheyFit : Halving::kNever;
  std::optional<uint32_t> four_tiles;
  if (whole != nullptr) {
    const Stream &of_whole = whole->streams_[j];
    stream.plan = {of_whole.plan.dims, states_of_part(of_whole.plan.states, *states)};
    halving = of_whole.direct.halved ? Halving::kAlways : Halving::kNever;
    four_tiles = of_whole.tensor.four_tiles;
  } else {
    const bool tensor = stream.diagonal_kernel ? has_diagonal_tensor(device_) : has_expanded_tensor(device_);
    stream.plan.dims = packer.dims(j);
    stream.plan.states = packer.states(j, stream.plan.dims, tensor, device_.halves_models());
  }
  stream.dims = to_device(stream.plan.dims);

  const DirectPack direct = packer.direct(j, stream.plan.states, halving);
  stream.fours = to_device(direct.fours);
  stream.states = to_device(direct.states);
  stream.shared = to_device(direct.shared);
  stream.log_weights = to_device(direct.log_weights);
  stream.n_shared_fours = direct.n_shared_fours, stream.first_shared_four = direct.first_shared_four;
  stream.direct = {stream.fours.data(), stream.dims.data(), n_dims, stream.full, direct.halved};
  if (!stream.plan.states.tensor.empty()) load_tensor(packer.tensor(j, stream.plan, stream.wgmma, four_tiles), &stream);
}

Gmm::~Gmm() = default;

void Gmm::load_tensor(const TensorPack &pack, Stream *stream) {
  stream->fragments = to_device(pack.fragments);
  stream->tiles = to_device(pack.tiles);
  stream->n_tiles = pack.starts.back();
  stream->monomials = to_device(pack.monomials);
  stream->halved = pack.halved;
  TensorModel &model = stream->tensor;
  model = {reinterpret_cast<const uint4 *>(stream->fragments.data()),
           stream->tiles.data(),
           stream->dims.data(),
           static_cast<uint32_t>(stream->dims.size()),
           pack.n_steps,
           {},
           {},
           nullptr,
           pack.four_tiles};
  if (stream->wgmma) {
    stream->begins = to_device(state_begins(pack.starts));
    model.state_begins = stream->begins.data();
    return;
  }
  const uint32_t n_max =
      device_.n_multiprocessors() * (stream->diagonal_kernel ? kDiagonalBlocks * kTensorWarps : kTensorWarps);
  for (uint32_t shape = 0; shape < kShapes; ++shape) {
    model.n_stretches[shape] = n_max >> shape;
    stream->stretches[shape] = to_device(cut_stretches(pack.starts, model.n_stretches[shape]));
    model.stretches[shape] = stream->stretches[shape].data();
  }
}

// Scores a stream of the models whose mixtures wgmma scores.
void Gmm::score_together(Device &device, const std::vector<Job> &jobs, size_t stream_number, cudaStream_t stream) {
  std::vector<DiagonalJob> lists[2];  // of whole models, of halved ones
  for (const Job &job : jobs) {
    const Gmm &gmm = *job.gmm;
    if (stream_number >= gmm.streams_.size()) continue;
    const Stream &s = gmm.streams_[stream_number];
    if (!s.wgmma || s.fragments.size() == 0) continue;
    const GmmRows rows = {job.features->data(), job.scores->data(), job.n_rows, gmm.n_dims_, gmm.n_states_, stream_number > 0};
    lists[s.halved ? 1 : 0].push_back({&s.tensor, s.n_tiles, rows});
  }
  for (const auto &list : lists) {
    for (size_t first = 0; first < list.size(); first += kMaxModels) {
      const auto n = static_cast<uint32_t>(std::min<size_t>(kMaxModels, list.size() - first));
      launch_diagonal_wgmma(list.data() + first, n, &list == &lists[1], device.n_multiprocessors(), stream);
    }
  }
}

// Scores the part of a stream that score_together leaves.
void Gmm::score_alone(const Job &job, size_t stream_number, cudaStream_t stream) {
  const Stream &s = streams_[stream_number];
  const GmmRows rows = {job.features->data(), job.scores->data(), job.n_rows, n_dims_, n_states_, stream_number > 0};
  if (s.fragments.size() > 0 && s.diagonal_kernel && !s.wgmma) launch_diagonal_tensor(s.tensor, s.halved, rows, stream);
  if (s.fragments.size() > 0 && !s.diagonal_kernel) {
    const size_t n_row_tiles = (rows.n_rows + 15) / 16;
    expanded_.reserve(n_row_tiles * s.tensor.n_steps * 64);
    inverse_scale_.reserve(n_row_tiles * 16);
    const ExpandedRows expanded = {expanded_.data(), inverse_scale_.data()};
    launch_expand(s.tensor, s.monomials.data(), rows, expanded, stream);
    launch_expanded_tensor(s.tensor, s.halved, rows, expanded, stream);
  }
  if (s.states.size() > 0) {
    launch_direct_states(s.direct, s.states.data(), static_cast<uint32_t>(s.states.size()), rows, stream);
  }
  if (s.n_shared_fours > 0) {
    gaussian_scores_.reserve(size_t{4} * s.n_shared_fours * rows.n_rows);
    DirectModel shared = s.direct;
    shared.fours += size_t{s.first_shared_four} * direct_four_words(s.direct);
    launch_direct_scores(shared, s.n_shared_fours, rows, gaussian_scores_.data(), stream);
    launch_mix_shared(s.shared.data(), static_cast<uint32_t>(s.shared.size()), s.log_weights.data(), gaussian_scores_.data(),
                      rows, stream);
  }
}

void Gmm::score(Device &device, const std::vector<Job> &jobs) {
  const cudaStream_t stream = device.compute().get();
  size_t n_streams = 0;
  for (const Job &job : jobs) n_streams = std::max(n_streams, job.gmm->streams_.size());
  device.clock().start(stream);
  for (size_t j = 0; j < n_streams; ++j) {
    score_together(device, jobs, j, stream);
    for (const Job &job : jobs) {
      if (j < job.gmm->streams_.size()) job.gmm->score_alone(job, j, stream);
    }
  }
  device.clock().stop(stream);
}

}  // namespace asr::gpu
