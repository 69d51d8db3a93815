// SPDX-License-Identifier: Apache-2.0
// Scorer is a bundle's acoustic model on a device: the log-likelihoods of rows, for `senone score` and benchmarks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/registry.h"
#include "core/model/bundle.h"

namespace asr::tool {

class Scorer {
 public:
  static constexpr uint32_t kRowsAtOnce = 256;  // the device's window_frames, at least

  // The device must outlive this.
  Scorer(const Device &device, const Bundle &bundle);
  ~Scorer() { device_.api()->free_acoustic(acoustic_); }
  Scorer(const Scorer &) = delete;
  Scorer &operator=(const Scorer &) = delete;

  asr_backend_acoustic *get() const { return acoustic_; }
  uint32_t n_pdfs() const { return n_pdfs_; }

  // rows: [n_rows][dimensions of the model]. Returns [n_rows][n_pdfs()].
  std::vector<float> score(const std::vector<float> &rows) const;

 private:
  const Device &device_;
  uint32_t n_dims_ = 0, n_pdfs_ = 0;
  asr_backend_acoustic *acoustic_ = nullptr;
};

}  // namespace asr::tool
