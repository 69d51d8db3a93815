// SPDX-License-Identifier: Apache-2.0
// A loaded acoustic model with its two score buffers. Scores are computed in the compute queue and stay on the device; they
// come to the host beside it when they are asked for.
#pragma once

#include <cstdint>

#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/gmm.h"

namespace asr::ocl {

class Acoustic {
 public:
  Acoustic(Device &device, const asr_acoustic_view &view);
  ~Acoustic();
  Acoustic(const Acoustic &) = delete;
  Acoustic &operator=(const Acoustic &) = delete;

  uint32_t n_dims() const { return gmm_.n_dims(); }
  uint32_t n_states() const { return gmm_.n_states(); }

  // Starts scoring n_rows into a buffer; `loglikes`, if not NULL, is complete after finish().
  void score(const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes);
  // The same of rows [n_rows][n_dims] that work in the compute queue puts where prepare() says, before score_prepared().
  const DeviceArray<float> &prepare(uint32_t n_rows, uint32_t buffer);
  void score_prepared(uint32_t buffer);
  // Until all that was started is done.
  void finish();
  // Rows of a buffer [n_rows][n_states], on the host until the next score into it.
  const float *rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows);
  // The buffer on the device, row 0 first, for work that is put into the compute queue afterwards. Checks the rows.
  const DeviceArray<float> &device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows);

 private:
  struct Buffer {
    explicit Buffer(const Context &context)
        : features(context), scores(context), host_features(context), host_scores(context) {}
    uint32_t n_rows = 0;
    DeviceArray<float> features, scores;
    PinnedArray<float> host_features, host_scores;
    Event scored, fetched;
    bool on_host = false;       // host_scores are those of scores, once `fetched` has come
    float *loglikes = nullptr;  // where they have yet to go
  };
  Buffer &scored(uint32_t buffer, uint32_t first_row, uint32_t n_rows);
  void fetch(Buffer &buffer);
  void deliver(Buffer &buffer);

  Device &device_;
  Gmm gmm_;
  Buffer buffers_[2];
};

}  // namespace asr::ocl
