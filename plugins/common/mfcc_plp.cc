// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/mfcc_plp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "core/base/error.h"

namespace asr {

namespace {

// Returns a copy whose members that the view lacks are zero.
asr_features_view whole(const asr_features_view &view) {
  asr_features_view copy{};
  std::memcpy(&copy, &view, std::min(view.size, sizeof copy));
  copy.size = sizeof copy;
  return copy;
}

}  // namespace

uint32_t lpc_order_of(const asr_features_view &view) {
  const uint32_t order =
      view.size >= offsetof(asr_features_view, autocorrelation) + sizeof(view.autocorrelation) ? view.lpc_order : 0;
  if (order > 0 && (order >= view.n_mel || order > kMaxPlpOrder)) {
    fail(ASR_INVALID_ARGUMENT, "features: a linear prediction of order %u from %u mel bands; must be below these, at most %u",
         order, view.n_mel, kMaxPlpOrder);
  }
  return order;
}

uint32_t dct_columns(const asr_features_view &view) {
  const uint32_t order = lpc_order_of(view);
  return order > 0 ? order + 1 : view.n_mel;
}

PlpTables::PlpTables(const asr_features_view &view) : is_plp(lpc_order_of(view) > 0), levels(whole(view)) {
  numbers.n_ceps = view.n_ceps;
  if (!is_plp) return;
  const double log2_e = 1 / std::log(2.0);
  const bool has_energy = view.energy_row >= 0;
  numbers.n_mel = view.n_mel, numbers.n_levels = view.n_mel + (has_energy ? 1 : 0), numbers.lpc_order = view.lpc_order;
  numbers.energy_row = view.energy_row;
  numbers.compression = static_cast<float>(log2_e * view.compression);
  numbers.log_gain_floor = view.log_gain_floor;
  for (size_t i = 0; i < size_t{view.n_warps} * view.n_mel; ++i) {
    loudness.push_back(static_cast<float>(log2_e * view.loudness[i]));
  }
  const size_t n_columns = size_t{view.lpc_order} + 1;
  autocorrelation.assign(view.autocorrelation, view.autocorrelation + n_columns * view.n_mel);
  weights.assign(view.dct, view.dct + n_columns * view.n_ceps);
  identity.resize(size_t{numbers.n_levels} * view.n_mel);  // the energy's row is zero
  for (uint32_t m = 0; m < view.n_mel; ++m) identity[size_t{m} * view.n_mel + m] = 1;
  levels.n_ceps = numbers.n_levels, levels.dct = identity.data();
  levels.energy_row = has_energy ? static_cast<int32_t>(view.n_mel) : -1;
}

}  // namespace asr
