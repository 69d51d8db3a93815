// SPDX-License-Identifier: Apache-2.0
// AcousticCopy keeps an acoustic model in the host's memory after load_acoustic, so that a part of it can be packed when it is
// known which states graphs have. Used by acoustic.h.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

class AcousticCopy {
 public:
  explicit AcousticCopy(const asr_acoustic_view &view);
  AcousticCopy(const AcousticCopy &) = delete;
  AcousticCopy &operator=(const AcousticCopy &) = delete;

  const asr_acoustic_view &view() const { return view_; }

 private:
  asr_acoustic_view view_;  // of the arrays below
  std::vector<std::vector<uint32_t>> dims_;
  std::vector<asr_gmm_stream> streams_;
  std::vector<asr_gmm_codebook> codebooks_;
  std::vector<float> means_, precisions_, log_weights_;
  std::vector<uint32_t> covariance_of_, state_codebook_;
  std::vector<uint64_t> precision_at_, state_weight_;
};

}  // namespace asr
