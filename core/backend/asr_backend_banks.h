/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_banks.h - the filter banks of a front end by their edges, for frames that are wanted under many of them.
 *
 * A search for a speaker's warp tries all banks on the same frames, and edges allow kernels whose cost does not depend on the
 * widths of the bands. The core's own search runs on the CPU; `senone bench mfcc` measures the rest. A back end may ignore the
 * edges, because asr_features_view.mel_bands has the same bands by their weights.
 */
#ifndef SENONE_ASR_BACKEND_BANKS_H
#define SENONE_ASR_BACKEND_BANKS_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Band m of bank w is a triangle (F5 of docs/equations.md) between the edges m and m + 2 of the bank, whose top is
 * gains[w][m] at edge m + 1. It counts the bins strictly inside. */
struct asr_mel_triangles {
  const double *positions; /* [fft_samples / 2], of the bins on the scale on which triangles are linear, ascending */
  const double *edges;     /* [n_warps][n_mel + 2], on that scale; usually ascending */
  const float *gains;      /* [n_warps][n_mel] */
};

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_BANKS_H */
