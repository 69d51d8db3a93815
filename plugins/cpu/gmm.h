// SPDX-License-Identifier: Apache-2.0
// Gmm scores an acoustic model on the CPU (gmm.cc): diagonal and full covariances, own and shared codebooks. device.cc calls it
// for `score`; AskedRows (gmm_asked.h) scores the states that a search asks for.
#pragma once

#include <memory>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"

namespace asr::cpu {

class ChosenStates;

struct GmmOptions {
  bool halved = false;            // parameters take 16 bits, unless one does not fit
  uint32_t n_best_gaussians = 0;  // see asr_backend_options
  double cluster_share = 1;       // the same
};

class Gmm {
 public:
  struct Packed;

  Gmm(const asr_acoustic_view &view, const GmmOptions &options);  // repacks the model
  ~Gmm();
  uint32_t n_dims() const;
  uint32_t n_states() const;
  double row_cost() const;  // about how many vector operations score a row
  const Packed &packed() const { return *packed_; }
  // Scores features[n_rows][n_dims] into loglikes[n_rows][n_states]. Safe from several threads at once, each with a `chosen` of
  // its own, whose memory serves one call after another.
  void score(const float *features, uint32_t n_rows, float *loglikes, ThreadPool &pool, ChosenStates &chosen) const;

 private:
  std::unique_ptr<const Packed> packed_;
};

}  // namespace asr::cpu
