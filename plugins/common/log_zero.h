// SPDX-License-Identifier: Apache-2.0
// kLogZero is the log weight of an absent Gaussian, as hosts pack it and kernels read it.
#ifndef SENONE_KERNELS_LOG_ZERO_H
#define SENONE_KERNELS_LOG_ZERO_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED float kLogZero = -3e38f;  // finite, so that no NaN arises

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_LOG_ZERO_H
