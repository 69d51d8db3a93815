// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/acoustic.h"

#include "plugins/common/ocl/gmm_tuning.h"

namespace asr::ocl {

Acoustic::Acoustic(Device &device, const asr_acoustic_view &view)
    : ScoreBuffers(device, view, device.context()),
      gmm_(device, view, chosen_tuning(device, view.covariance == ASR_COVARIANCE_FULL),
           tensor_target(device, view.covariance)) {}

Acoustic::~Acoustic() {
  api().Finish(device_.compute().get());
  api().Finish(device_.copies().get());
}

void Acoustic::score_prepared(uint32_t buffer) {
  Buffer &b = buffers_[buffer];
  if (b.n_rows > 0) {
    device_.compute().wait_for(b.fetched);
    gmm_.score(b.features, b.n_rows, b.scores);
    device_.compute().mark(&b.scored);
  }
  deliver(b);  // the scores before these, while the kernels run
}

void Acoustic::score(const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes) {
  upload(features, n_rows, buffer);
  score_prepared(buffer);
  fetch(buffer, loglikes);
}

}  // namespace asr::ocl
