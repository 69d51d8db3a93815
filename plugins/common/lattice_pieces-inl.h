// SPDX-License-Identifier: Apache-2.0
// The frames at which pieces of a lattice are settled ("Pieces" in docs/search.md), for every back end.
#ifndef SENONE_KERNELS_LATTICE_PIECES_H
#define SENONE_KERNELS_LATTICE_PIECES_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED uint32_t kPieceFrames = 256;

DEVICE bool ends_piece(uint32_t newest) { return newest % kPieceFrames == 0; }

// Returns true if frame newest - kPieceFrames settles with the newest frame; last_settled is the last frame that has settled,
// or 0.
DEVICE bool settles_piece(uint32_t newest, uint32_t last_settled) {
  return ends_piece(newest) && newest >= 2 * kPieceFrames && newest - kPieceFrames > last_settled;
}

// Returns the number of settled frames from first_frame on.
DEVICE uint32_t n_settled_frames(uint32_t last_settled, uint32_t first_frame) {
  return last_settled > 0 ? last_settled - first_frame + 1 : 0;
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_LATTICE_PIECES_H
