// SPDX-License-Identifier: Apache-2.0
// Forced is an acoustic model on a device for the extension "forced". Rows and states go up through pinned memory, in launches
// of bounded size, and log-likelihoods come back. Each runtime defines launch() (forced.cc in plugins/cuda/forced and
// plugins/ocl/forced).
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/gpu/forced/forced_pack.h"
#include "plugins/gpu/runtime/staging.h"
#include "runtime/device.h"

namespace asr::gpu {

class Forced {
 public:
  Forced(Device &device, const asr_acoustic_view &view) : Forced(device, view, ForcedPack(view)) {}
  Forced(const Forced &) = delete;
  Forced &operator=(const Forced &) = delete;

  // As in asr_backend_forced_api.
  void score(const float *rows, const uint32_t *states, size_t n_rows, float *loglikes);

 private:
  static constexpr size_t kMaxFloatsOfLaunch = size_t{1} << 24;  // of rows: 64 MB

  Forced(Device &device, const asr_acoustic_view &view, const ForcedPack &pack);

  // Puts the kernel into the compute queue, for rows_ and states_. Defined by each runtime.
  void launch(uint32_t n_rows);

  template <typename T>
  void load(const std::vector<T> &from, Array<T> *to) {
    to->reserve(from.size());
    device_.compute().write(*to, 0, from.data(), from.size());
    device_.compute().finish();
  }

  Device &device_;
  const uint32_t n_dims_, n_states_, n_streams_;
  Array<ForcedCodebook> codebooks_;
  Array<ForcedMixture> mixtures_;
  Array<uint32_t> dims_, states_;
  Array<float> parameters_, weights_, rows_, loglikes_;
  Staging<> staging_;
  Staging<uint32_t> state_staging_;
};

}  // namespace asr::gpu
