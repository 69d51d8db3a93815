// SPDX-License-Identifier: Apache-2.0
// The frames after which paths that do not join are cut ("Paths that do not join" in docs/search.md), for every back end.
#ifndef SENONE_KERNELS_PATH_CUTS_H
#define SENONE_KERNELS_PATH_CUTS_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED uint32_t kCutPeriod = 1024, kCutDistance = 4096;  // frames; the distance is a multiple of the period

// Returns true if frame `newest` ends with a cut, to the paths that agree up to frame newest - kCutDistance.
DEVICE bool cuts_paths(uint32_t newest) { return newest % kCutPeriod == 0 && newest > kCutDistance; }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_PATH_CUTS_H
