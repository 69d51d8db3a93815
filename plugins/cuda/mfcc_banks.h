// SPDX-License-Identifier: Apache-2.0
// Filter banks as kernels/mfcc_512.cu takes them: every bin once, for the two bands that share it. Used by mfcc.cc.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::cuda {

// One after the other, *bank_fours each; kernels/mfcc.h says what is in them.
std::vector<float4> make_banks(const asr_features_view &view, uint32_t *bank_fours);

}  // namespace asr::cuda
