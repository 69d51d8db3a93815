// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/forced/forced.h"

#include <algorithm>

namespace asr::gpu {

Forced::Forced(Device &device, const asr_acoustic_view &view, const ForcedPack &pack)
    : device_(device),
      n_dims_(view.n_dims),
      n_states_(view.n_states),
      n_streams_(view.n_streams),
      codebooks_(device.context()),
      mixtures_(device.context()),
      dims_(device.context()),
      states_(device.context()),
      parameters_(device.context()),
      weights_(device.context()),
      rows_(device.context()),
      loglikes_(device.context()),
      staging_(device.pool(), device.context()),
      state_staging_(device.pool(), device.context()) {
  load(pack.codebooks, &codebooks_);
  load(pack.mixtures, &mixtures_);
  load(pack.dims, &dims_);
  load(pack.parameters, &parameters_);
  load(pack.weights, &weights_);
}

void Forced::score(const float *rows, const uint32_t *states, size_t n_rows, float *loglikes) {
  check_forced_states(states, n_rows, n_states_);
  const size_t max_rows = std::max<size_t>(kMaxFloatsOfLaunch / n_dims_, 1);
  for (size_t first = 0; first < n_rows; first += max_rows) {
    const size_t n = std::min(max_rows, n_rows - first);
    rows_.reserve(n * n_dims_);
    states_.reserve(n);
    loglikes_.reserve(n);
    staging_.upload({{rows + first * n_dims_, n * n_dims_}}, rows_, device_.compute());
    state_staging_.upload({{states + first, n}}, states_, device_.compute());
    launch(static_cast<uint32_t>(n));
    staging_.download(loglikes_, {{loglikes + first, n}}, device_.compute());
  }
}

}  // namespace asr::gpu
