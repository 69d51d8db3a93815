// SPDX-License-Identifier: Apache-2.0
// NoiseRemoval is CMU Sphinx's noise removal (F6 of docs/equations.md): a gain per mel band from a running estimate of its
// noise. It needs the frames in order, so the device returns log mel energies and the remaining steps to cepstra run here.
// FeaturePipeline uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/mfcc_tables.h"

namespace asr {

class NoiseRemoval {
 public:
  explicit NoiseRemoval(const FeatureTables &tables);

  // Appends the cepstra [n][n_ceps] of log mel energies [n][n_mel] to `cepstra`.
  void push(const float *log_mel, size_t n, std::vector<float> *cepstra);

 private:
  void apply_gain();

  const std::vector<float> &dct_;
  uint32_t n_mel_, n_ceps_;
  double log_add_, log_floor_;
  bool started_ = false;
  std::vector<double> energy_, power_, noise_, signal_, floor_, peak_, gain_;  // [n_mel] each
};

}  // namespace asr
