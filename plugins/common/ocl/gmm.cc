// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/gmm.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/ocl/kernels.h"
#include "plugins/common/packing.h"

namespace asr::ocl {
namespace {

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

std::string score_options(const GmmTuning &t, bool full) {
  return format("-DFULL=%d -DLANES=%u -DPARTS=%u -DTILE_ROWS=%u -DGROUP_SIZE=%u", full ? 1 : 0, t.lanes, t.parts, t.tile_rows,
                t.group_size);
}

const Program &score_program(Device &device, const GmmTuning &tuning, const asr_acoustic_view &view) {
  return device.program(*device.variant().gmm_score, score_options(tuning, view.covariance == ASR_COVARIANCE_FULL));
}

std::vector<float> part(const std::vector<float> &values, size_t begin, size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

Gmm::Stream::Stream(const Context &context, const GmmPack &pack)
    : dims(context, pack.dims),
      fours(context, part(pack.fours, 0, pack.first_shared_value)),
      shared_fours(context, part(pack.fours, pack.first_shared_value, pack.fours.size())),
      blocks(context, pack.blocks),
      states(context, pack.states),
      shared(context, pack.shared),
      log_weights(context, pack.log_weights),
      n_shared_fours(pack.n_shared_fours) {}

Gmm::Gmm(Device &device, const asr_acoustic_view &view)
    : device_(device),
      tuning_(device.variant().gmm_tuning(device.facts(), view.covariance == ASR_COVARIANCE_FULL)),
      n_dims_(view.n_dims),
      n_states_(view.n_states),
      states_(score_program(device, tuning_, view).kernel("gmm_states")),
      gaussians_(score_program(device, tuning_, view).kernel("gmm_gaussians")),
      mix_shared_(device
                      .program(kernel_gmm_shared,
                               format("-DGROUP_ROWS=%u -DGROUP_ENTRIES=%u", tuning_.shared_rows, tuning_.shared_entries))
                      .kernel("gmm_mix_shared")),
      tile_rows_(device.program(kernel_gmm_rows, format("-DTILE_ROWS=%u", tuning_.tile_rows)).kernel("gmm_tile_rows")),
      tiles_(device.context()),
      gaussian_scores_(device.context()) {
  const std::vector<float> centre = feature_centre(view);
  const size_t most_dims = device.facts().local_bytes / (tuning_.tile_rows * sizeof(float));
  for (uint32_t j = 0; j < view.n_streams; ++j) {
    const uint32_t n_dims = view.streams[j].n_dims;
    if (tuning_.rows_in_local && n_dims > most_dims) {
      fail(ASR_UNSUPPORTED, "acoustic model: %u features in a stream; this device takes up to %zu", n_dims, most_dims);
    }
    streams_.emplace_back(device.context(), pack_stream(view, j, centre, {tuning_.lanes, tuning_.parts}));
  }
}

void Gmm::score(const DeviceArray<float> &features, uint32_t n_rows, const DeviceArray<float> &scores) {
  uint32_t add = 0;
  for (const Stream &stream : streams_) {
    if (!tuning_.rows_in_local) tile_rows(stream, features, n_rows);
    if (stream.blocks.size() > 0) score_states(stream, features, n_rows, scores, add);
    if (stream.n_shared_fours > 0) score_shared(stream, features, n_rows, scores, add);
    add = 1;
  }
}

void Gmm::tile_rows(const Stream &stream, const DeviceArray<float> &features, uint32_t n_rows) {
  constexpr size_t kGroup = 64;
  const auto n_dims = static_cast<uint32_t>(stream.dims.size());
  const size_t n_values = ceil_div(n_rows, tuning_.tile_rows) * tuning_.tile_rows * n_dims;
  if (tiles_.size() < n_values) tiles_.reserve(std::max(n_values, size_t{device_.max_rows()} * n_dims));
  tile_rows_.set(features, n_rows, n_dims_, stream.dims, n_dims, tiles_);
  device_.launch(tile_rows_, {ceil_div(n_values, kGroup)}, {kGroup});
}

void Gmm::score_states(const Stream &stream, const DeviceArray<float> &features, uint32_t n_rows,
                       const DeviceArray<float> &scores, uint32_t add) {
  const auto n_dims = static_cast<uint32_t>(stream.dims.size()), n_blocks = static_cast<uint32_t>(stream.blocks.size());
  if (tuning_.rows_in_local) {
    const LocalBytes x = {size_t{n_dims} * tuning_.tile_rows * sizeof(float)};
    states_.set(stream.fours, stream.blocks, n_blocks, stream.states, features, n_rows, n_dims_, stream.dims, n_dims, scores,
                n_states_, add, x);
  } else {
    const LocalBytes parts = {size_t{tuning_.tile_rows} * tuning_.lanes * 2 * sizeof(float)};
    states_.set(stream.fours, stream.blocks, stream.states, tiles_, n_dims, n_rows, scores, n_states_, add, parts);
  }
  device_.launch(states_, {ceil_div(n_blocks, tuning_.group_blocks), ceil_div(n_rows, tuning_.tile_rows)},
                 {tuning_.group_size});
}

void Gmm::score_shared(const Stream &stream, const DeviceArray<float> &features, uint32_t n_rows,
                       const DeviceArray<float> &scores, uint32_t add) {
  const auto n_dims = static_cast<uint32_t>(stream.dims.size()), n_entries = static_cast<uint32_t>(stream.shared.size());
  gaussian_scores_.reserve(size_t{4} * stream.n_shared_fours * n_rows);
  if (tuning_.rows_in_local) {
    const LocalBytes x = {size_t{n_dims} * tuning_.tile_rows * sizeof(float)};
    gaussians_.set(stream.shared_fours, stream.n_shared_fours, features, n_rows, n_dims_, stream.dims, n_dims, gaussian_scores_,
                   x);
  } else {
    gaussians_.set(stream.shared_fours, stream.n_shared_fours, tiles_, n_dims, n_rows, gaussian_scores_);
  }
  device_.launch(gaussians_,
                 {ceil_div(stream.n_shared_fours, tuning_.group_blocks * tuning_.lanes), ceil_div(n_rows, tuning_.tile_rows)},
                 {tuning_.group_size});
  mix_shared_.set(stream.shared, n_entries, stream.log_weights, gaussian_scores_, n_rows, scores, n_states_, add);
  device_.launch(mix_shared_, {ceil_div(n_rows, tuning_.shared_rows), ceil_div(n_entries, tuning_.shared_entries)},
                 {tuning_.shared_rows, tuning_.shared_entries});
}

}  // namespace asr::ocl
