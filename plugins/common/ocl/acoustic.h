// SPDX-License-Identifier: Apache-2.0
// A model on the device with its two score buffers: what the slots load_acoustic, score, wait and advance work on.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/gmm.h"
#include "plugins/common/score_buffers.h"

namespace asr::ocl {

class Acoustic : public ScoreBuffers<Device> {
 public:
  Acoustic(Device &device, const asr_acoustic_view &view);
  ~Acoustic();

  // Starts scoring n_rows into a buffer; `loglikes`, if not NULL, is complete after finish().
  struct Job {
    Acoustic *acoustic;
    const float *features;
    uint32_t n_rows, buffer;
    float *loglikes;
  };
  static void score(Device &, const std::vector<Job> &jobs) {
    for (const Job &job : jobs) job.acoustic->score(job.features, job.n_rows, job.buffer, job.loglikes);
  }
  void score(const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes);
  // The same of rows that were put where prepare() says.
  void score_prepared(uint32_t buffer);
  // A buffer [n_rows][n_states] on the device, row 0 first, for work that the compute queue's is done before. Checks the rows.
  const DeviceArray<float> &device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows) const {
    return scored(buffer, first_row, n_rows).scores;
  }

 private:
  Gmm gmm_;
};

}  // namespace asr::ocl
