// SPDX-License-Identifier: Apache-2.0
// A model on the device with its two score buffers: what the slots load_acoustic, score, wait and advance work on.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/common/score_buffers.h"
#include "plugins/cuda/device.h"
#include "plugins/cuda/gmm.h"

namespace asr::cuda {

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
  static void score(Device &device, const std::vector<Job> &jobs);
  // The same of rows that were put where prepare() says.
  void score_prepared(uint32_t buffer) { score_prepared(device_, {this}, {buffer}); }
  // Rows of a buffer [n_rows][n_states] on the device, for work that is put into `stream` afterwards.
  const float *device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows, Stream &stream) const;

 private:
  static void score_prepared(Device &device, const std::vector<Acoustic *> &acoustics, const std::vector<uint32_t> &buffers);

  Gmm gmm_;
};

}  // namespace asr::cuda
