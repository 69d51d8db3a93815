// SPDX-License-Identifier: Apache-2.0
// A model on the device with its two score buffers: what the slots load_acoustic, score, wait and advance work on. Scores stay
// on the device; they come to the host when they are asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cuda/device.h"
#include "plugins/cuda/gmm.h"

namespace asr::cuda {

class Acoustic {
 public:
  Acoustic(Device &device, const asr_acoustic_view &view);
  ~Acoustic();
  Acoustic(const Acoustic &) = delete;
  Acoustic &operator=(const Acoustic &) = delete;

  uint32_t n_dims() const { return gmm_.n_dims(); }
  uint32_t n_states() const { return gmm_.n_states(); }

  // Starts scoring n_rows into a buffer; `loglikes`, if not NULL, is complete after finish().
  struct Job {
    Acoustic *acoustic;
    const float *features;
    uint32_t n_rows, buffer;
    float *loglikes;
  };
  static void score(Device &device, const std::vector<Job> &jobs);
  void score(const float *features, uint32_t n_rows, uint32_t buffer, float *loglikes) {
    score(device_, {{this, features, n_rows, buffer, loglikes}});
  }
  // The same of rows [n_rows][n_dims] that work in the compute stream puts where prepare() says, before score_prepared().
  float *prepare(uint32_t n_rows, uint32_t buffer);
  void score_prepared(uint32_t buffer) { score_prepared(device_, {this}, {buffer}); }
  // Until all that was started is done.
  void finish();
  // Rows of a buffer [n_rows][n_states], on the host until the next score into it.
  const float *rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows);
  // The same on the device, for work that is put into `stream` afterwards.
  const float *device_rows(uint32_t buffer, uint32_t first_row, uint32_t n_rows, cudaStream_t stream);

 private:
  struct Buffer {
    uint32_t n_rows = 0;
    DeviceArray<float> features, scores;
    PinnedArray<float> host_features, host_scores;
    Event scored, fetched;
    bool on_host = false;       // host_scores are those of scores, once `fetched` has come
    float *loglikes = nullptr;  // where so many of them have yet to go
    size_t n_loglikes = 0;
  };
  static void score_prepared(Device &device, const std::vector<Acoustic *> &acoustics, const std::vector<uint32_t> &buffers);
  void upload(const float *features, uint32_t n_rows, uint32_t buffer);
  Buffer &scored(uint32_t buffer, uint32_t first_row, uint32_t n_rows);
  void fetch(Buffer &buffer);
  void deliver(Buffer &buffer);

  Device &device_;
  Gmm gmm_;
  Buffer buffers_[2];
};

}  // namespace asr::cuda
