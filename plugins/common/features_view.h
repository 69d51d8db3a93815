// SPDX-License-Identifier: Apache-2.0
// Checks of a front end that a back end makes before it repacks the tables.
#pragma once

#include "core/backend/asr_backend.h"

namespace asr {

// Throws ASR_INVALID_ARGUMENT if the window does not fit the transform or a mel band its bins.
void check_features_view(const asr_features_view &view);

}  // namespace asr
