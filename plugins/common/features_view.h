// SPDX-License-Identifier: Apache-2.0
// What a back end checks of a front end before it repacks its tables.
#pragma once

#include "core/backend/asr_backend.h"

namespace asr {

// Throws ASR_INVALID_ARGUMENT if the window does not fit the transform or a mel band its bins.
void check_features_view(const asr_features_view &view);

}  // namespace asr
