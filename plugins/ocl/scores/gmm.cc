// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/scores/gmm.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/common/packing.h"
#include "plugins/ocl/runtime/kernels.h"
#include "plugins/ocl/scores/gmm_tuning.h"

namespace asr::gpu {
namespace {

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// Rounds to few sizes, so that models of many sizes share a compiled kernel.
uint32_t local_dims(uint32_t n_dims) { return n_dims <= 40 ? 40 : (n_dims + 95) / 96 * 96; }

const Program &score_program(Device &device, const GmmTuning &t, uint32_t tile_rows, uint32_t n_dims, bool full, bool halved) {
  std::string options = format(
      "-DFULL=%d -DHALVED=%d -DLANES=%u -DPARTS=%u -DDIMS=%u -DFACTOR_ROWS=%u -DTILE_ROWS=%u -DGROUP_SIZE=%u "
      "-cl-denorms-are-zero",
      full ? 1 : 0, halved ? 1 : 0, t.lanes, t.parts, t.dims, t.factor_rows, tile_rows, t.group_size);
  if (t.rows_in_local) options += format(" -DLOCAL_DIMS=%u", local_dims(n_dims));
  return device.program(*device.variant().gmm_score, options);
}

const Program &tile_program(Device &device, const GmmTuning &t, uint32_t tile_rows) {
  return device.program(kernel_gmm_rows, format("-DTILE_ROWS=%u -DDIMS=%u", tile_rows, t.dims));
}

const Program &shared_program(Device &device, const GmmTuning &t) {
  return device.program(kernel_gmm_shared, format("-DGROUP_ROWS=%u -DGROUP_ENTRIES=%u", t.shared_rows, t.shared_entries));
}

std::vector<uint32_t> part(const std::vector<uint32_t> &values, size_t begin, size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

Gmm::Stream::Stream(const Context &context, const GmmPack &pack, StreamPlan plan)
    : plan(std::move(plan)),
      dims(context, pack.dims),
      halved(pack.halved),
      fours(context, part(pack.fours, 0, pack.first_shared_word)),
      shared_fours(context, part(pack.fours, pack.first_shared_word, pack.fours.size())),
      blocks(context, pack.blocks),
      states(context, pack.states),
      shared(context, pack.shared),
      log_weights(context, pack.log_weights),
      four_size(pack.four_size),
      n_shared_fours(pack.n_shared_fours) {}

Gmm::Shape::Shape(Device &device, const GmmTuning &tuning, uint32_t tile_rows, uint32_t n_dims, bool full, bool halved)
    : tile_rows(tile_rows),
      halved(halved),
      states(score_program(device, tuning, tile_rows, n_dims, full, halved).kernel("gmm_states")),
      gaussians(score_program(device, tuning, tile_rows, n_dims, full, halved).kernel("gmm_gaussians")),
      tile(tile_program(device, tuning, tile_rows).kernel("gmm_tile_rows")) {}

Gmm::Gmm(Device &device, const asr_acoustic_view &view)
    : Gmm(device, view, chosen_tuning(device, view.covariance == ASR_COVARIANCE_FULL), tensor_target(device, view.covariance)) {
}

Gmm::Gmm(Device &device, const asr_acoustic_view &view, const GmmTuning &tuning, const std::optional<TensorTarget> &tensor)
    : device_(device),
      tuning_(tuning),
      tensor_(tensor),
      n_dims_(view.n_dims),
      n_states_(view.n_states),
      centre_(feature_centre(view)),
      mix_shared_(shared_program(device, tuning_).kernel("gmm_mix_shared")),
      tiles_(device.context()),
      gaussian_scores_(device.context()) {
  for (uint32_t j = 0; j < view.n_streams; ++j) load_stream(view, j, nullptr, nullptr);
  make_shapes(view);
}

Gmm::Gmm(const Gmm &whole, const asr_acoustic_view &view, const StateSet &states)
    : device_(whole.device_),
      tuning_(whole.tuning_),
      tensor_(whole.tensor_),
      n_dims_(whole.n_dims_),
      n_states_(whole.n_states_),
      centre_(whole.centre_),
      mix_shared_(shared_program(device_, tuning_).kernel("gmm_mix_shared")),
      tiles_(device_.context()),
      gaussian_scores_(device_.context()) {
  for (uint32_t j = 0; j < view.n_streams; ++j) load_stream(view, j, &whole, &states);
  make_shapes(view);
}

// Tensor cores score the states with codebooks of their own whose Gaussians fit.
StreamPlan Gmm::plan_of(const asr_acoustic_view &view, uint32_t j, const TensorPacker &packer) const {
  StreamPlan plan = {{}, states_of_stream(view, j)};
  if (tensor_ && view.streams[j].n_dims <= GmmTensor::kMaxDims) {
    plan.dims = packer.dims_of(j);
    choose_tensor_states(packer, j, plan.dims, device_.halves_models(), &plan.states);
  }
  return plan;
}

// `whole` and `states`: those of a part, else nullptr. A part has the formats of the whole.
void Gmm::load_stream(const asr_acoustic_view &view, uint32_t j, const Gmm *whole, const StateSet *states) {
  const TensorPacker packer(view, centre_, device_.pool());
  GmmLayout layout = {tuning_.lanes, tuning_.parts, tuning_.dims, tuning_.factor_rows,
                      device_.halves_models() ? Halving::kIfTheyFit : Halving::kNever};
  const Stream *const of_whole = whole != nullptr ? &whole->streams_[j] : nullptr;
  StreamPlan plan;
  std::optional<uint32_t> four_tiles;
  if (of_whole != nullptr) {
    plan = {of_whole->plan.dims, states_of_part(of_whole->plan.states, *states)};
    layout.halving = of_whole->halved ? Halving::kAlways : Halving::kNever;
    if (of_whole->wgmma) four_tiles = of_whole->wgmma->four_tiles();
  } else {
    plan = plan_of(view, j, packer);
  }
  const StreamStates &all = of_whole != nullptr ? of_whole->plan.states : plan.states;
  const GmmPack pack = pack_stream(view, j, centre_, layout, plan.states, all, device_.pool());
  Stream &stream = streams_.emplace_back(device_.context(), pack, std::move(plan));
  const auto &[dims, chosen] = stream.plan;
  if (chosen.tensor.empty()) return;
  if (GmmWgmma::serves(device_, view.covariance, static_cast<uint32_t>(dims.size()), chosen.halves_tensor)) {
    stream.wgmma.emplace(device_, packer, j, stream.plan, four_tiles);
  } else {
    stream.tensor.emplace(device_, *tensor_, view, packer, j, chosen, dims);
  }
}

void Gmm::make_shapes(const asr_acoustic_view &view) {
  const auto needs_fp32 = [](const Stream &stream) { return stream.blocks.size() > 0 || stream.n_shared_fours > 0; };
  if (std::none_of(streams_.begin(), streams_.end(), needs_fp32)) return;
  uint32_t max_dims = 0;
  for (uint32_t j = 0; j < view.n_streams; ++j) max_dims = std::max(max_dims, view.streams[j].n_dims);
  for (const uint32_t tile_rows : tuning_.tile_rows) {
    const size_t local_bytes = size_t{local_dims(max_dims)} * tile_rows * sizeof(float);
    if (tuning_.rows_in_local && local_bytes > device_.facts().local_bytes) break;
    for (const bool halved : {false, true}) {
      const auto uses = [&](const Stream &stream) { return stream.halved == halved; };
      if (std::none_of(streams_.begin(), streams_.end(), uses)) continue;
      shapes_.emplace_back(device_, tuning_, tile_rows, max_dims, view.covariance == ASR_COVARIANCE_FULL, halved);
    }
  }
  if (shapes_.empty()) {
    fail(ASR_UNSUPPORTED, "acoustic model: %u features in a stream are too many for this device's local memory; use the CPU",
         max_dims);
  }
}

// The smallest that is enough, else the largest.
const Gmm::Shape &Gmm::shape_for(uint32_t n_rows, bool halved) const {
  const Shape *best = nullptr;
  for (const Shape &shape : shapes_) {
    if (shape.halved == halved && (best == nullptr || best->tile_rows < n_rows)) best = &shape;
  }
  return *best;
}

void Gmm::score(Device &device, const std::vector<Job> &jobs) {
  size_t n_streams = 0;
  for (const Job &job : jobs) n_streams = std::max(n_streams, job.gmm->streams_.size());
  for (size_t j = 0; j < n_streams; ++j) {
    const uint32_t add = j > 0 ? 1 : 0;
    std::vector<GmmTensor::Job> list;
    std::vector<GmmWgmma::Job> wgmma;
    for (const Job &job : jobs) {
      Gmm &gmm = *job.gmm;
      if (j >= gmm.streams_.size()) continue;
      Stream &stream = gmm.streams_[j];
      if (stream.tensor)
        list.push_back({&*stream.tensor, job.features, job.n_rows, gmm.n_dims_, job.scores, gmm.n_states_, add});
      if (stream.wgmma)
        wgmma.push_back({&*stream.wgmma, job.features, job.n_rows, gmm.n_dims_, job.scores, gmm.n_states_, add});
    }
    GmmTensor::score(device, list);
    GmmWgmma::score(device, wgmma);
    for (const Job &job : jobs) {
      Gmm &gmm = *job.gmm;
      if (j >= gmm.streams_.size() || gmm.shapes_.empty()) continue;
      const Stream &stream = gmm.streams_[j];
      gmm.score_fp32(gmm.shape_for(job.n_rows, stream.halved), stream, {*job.features, job.n_rows, *job.scores, add});
    }
  }
}

void Gmm::score_fp32(const Shape &shape, const Stream &stream, const Rows &rows) {
  if (!tuning_.rows_in_local) tile(shape, stream, rows);
  if (stream.blocks.size() > 0) score_states(shape, stream, rows);
  if (stream.n_shared_fours > 0) score_shared(shape, stream, rows);
}

void Gmm::tile(const Shape &shape, const Stream &stream, const Rows &rows) {
  constexpr size_t kGroup = 64;
  const auto n_dims = static_cast<uint32_t>(stream.dims.size());
  const size_t n_padded = ceil_div(n_dims, tuning_.dims) * tuning_.dims;
  const size_t n_values = ceil_div(rows.n, shape.tile_rows) * shape.tile_rows * n_padded;
  tiles_.reserve(2 * n_values);
  shape.tile.set(rows.features, rows.n, n_dims_, stream.dims, n_dims, tiles_);
  device_.launch(shape.tile, {ceil_div(n_values, kGroup)}, {kGroup});
}

void Gmm::score_states(const Shape &shape, const Stream &stream, const Rows &rows) {
  const auto n_dims = static_cast<uint32_t>(stream.dims.size()), n_blocks = static_cast<uint32_t>(stream.blocks.size());
  if (tuning_.rows_in_local) {
    shape.states.set(stream.fours, stream.blocks, n_blocks, stream.states, rows.features, rows.n, n_dims_, stream.dims, n_dims,
                     stream.four_size, rows.scores, n_states_, rows.add);
  } else {
    shape.states.set(stream.fours, stream.blocks, stream.states, tiles_, n_dims, stream.four_size, rows.n, rows.scores,
                     n_states_, rows.add);
  }
  device_.launch(shape.states, {ceil_div(n_blocks, tuning_.group_blocks), ceil_div(rows.n, shape.tile_rows)},
                 {tuning_.group_size});
}

void Gmm::score_shared(const Shape &shape, const Stream &stream, const Rows &rows) {
  const auto n_dims = static_cast<uint32_t>(stream.dims.size()), n_entries = static_cast<uint32_t>(stream.shared.size());
  gaussian_scores_.reserve(size_t{4} * stream.n_shared_fours * rows.n);
  if (tuning_.rows_in_local) {
    shape.gaussians.set(stream.shared_fours, stream.n_shared_fours, rows.features, rows.n, n_dims_, stream.dims, n_dims,
                        stream.four_size, gaussian_scores_);
  } else {
    shape.gaussians.set(stream.shared_fours, stream.n_shared_fours, tiles_, n_dims, stream.four_size, rows.n, gaussian_scores_);
  }
  const size_t n_groups = ceil_div(stream.n_shared_fours, size_t{tuning_.group_blocks} * tuning_.lanes);
  device_.launch(shape.gaussians, {n_groups, ceil_div(rows.n, shape.tile_rows)}, {tuning_.group_size});
  mix_shared_.set(stream.shared, n_entries, stream.log_weights, gaussian_scores_, rows.n, rows.scores, n_states_, rows.add);
  device_.launch(mix_shared_, {ceil_div(rows.n, tuning_.shared_rows), ceil_div(n_entries, tuning_.shared_entries)},
                 {tuning_.shared_rows, tuning_.shared_entries});
}

}  // namespace asr::gpu
