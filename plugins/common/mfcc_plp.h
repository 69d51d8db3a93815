// SPDX-License-Identifier: Apache-2.0
// Tables of PLP (F11) from a view of features, which may be older than PLP. All back ends' MFCC classes use them. On GPUs the
// MFCC kernel makes the log energies of the bands (levels), and a second kernel makes the cepstra (mfcc_plp-inl.h).
#pragma once

#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/mfcc_plp-inl.h"

namespace asr {

// Returns view.lpc_order; 0, which is MFCC, for views that end before it. Throws ASR_INVALID_ARGUMENT if the order does not fit
// the bands.
uint32_t lpc_order_of(const asr_features_view &view);

// Returns the columns of view.dct.
uint32_t dct_columns(const asr_features_view &view);

// Tables of the two kernels.
struct PlpTables {
  explicit PlpTables(const asr_features_view &view);
  PlpTables(const PlpTables &) = delete;
  PlpTables &operator=(const PlpTables &) = delete;

  bool is_plp;               // otherwise there is one kernel, for `levels`, and its values are the cepstra
  asr_features_view levels;  // for the MFCC kernel: of PLP with the identity as its transform
  PlpNumbers numbers{};      // n_ceps also for MFCC
  std::vector<float> identity, loudness, autocorrelation, weights;
};

}  // namespace asr
