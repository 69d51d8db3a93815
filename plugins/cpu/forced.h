// SPDX-License-Identifier: Apache-2.0
// Forced is an acoustic model for the extension "forced": it scores rows in one state each. Rows of states that share a unit
// (gmm_units.h) are scored together, by the kernels of scores on demand. entry.cc calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"
#include "plugins/cpu/gmm.h"
#include "plugins/cpu/gmm_units.h"

namespace asr::cpu {

class Forced {
 public:
  explicit Forced(const asr_acoustic_view &view);
  Forced(const Forced &) = delete;
  Forced &operator=(const Forced &) = delete;

  // As in asr_backend_forced_api.
  void score(const float *rows, const uint32_t *states, size_t n_rows, float *loglikes, ThreadPool &pool) const;

 private:
  // A call, with its rows in the order of their units.
  struct Call {
    const float *rows;
    const uint32_t *states;
    float *loglikes;
    std::vector<size_t> order;
  };
  void score_units(const Call &call, size_t first, size_t n) const;
  void score_all(const Call &call, size_t first, size_t n, ThreadPool &pool) const;

  const Gmm gmm_;
  const std::vector<AskedUnit> all_;  // empty: feature streams group states differently
  const AskedUnits units_;
};

}  // namespace asr::cpu
