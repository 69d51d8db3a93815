// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/features_view.h"

#include "core/base/error.h"

namespace asr {

void check_features_view(const asr_features_view &view) {
  const uint32_t n = view.fft_samples;
  if (n < 64 || n > 8192 || (n & (n - 1)) != 0 || view.window_samples < 1 || view.window_samples > n) {
    fail(ASR_INVALID_ARGUMENT,
         "features: a window of %u and a transform of %u samples; must be 1..n and a power of two 64..8192",
         view.window_samples, n);
  }
  for (uint32_t i = 0; i < view.n_warps * view.n_mel; ++i) {
    if (uint64_t{view.mel_bands[i].first_bin} + view.mel_bands[i].n_bins > n / 2) {
      fail(ASR_INVALID_ARGUMENT, "features: mel band %u ends after the last of %u bins that bands have (F5)", i, n / 2);
    }
  }
}

}  // namespace asr
