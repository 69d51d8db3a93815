/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_forced.h - the extension "forced" of a back end: the log-likelihoods of rows in the states that an alignment
 * forces on them.
 *
 * A search for a speaker's warp (A2 of docs/equations.md) makes the features of an utterance under many filter banks, with one
 * call of `extract`, and scores each row for one state only: that of the best path. `score` would score all states. Without
 * this extension the CPU makes and scores the rows. The rules of asr_backend.h for calls, threads and versions hold.
 */
#ifndef SENONE_ASR_BACKEND_FORCED_H
#define SENONE_ASR_BACKEND_FORCED_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_FORCED "forced" /* argument of asr_backend_api.extension, which returns an asr_backend_forced_api */

typedef struct asr_backend_forced asr_backend_forced; /* an acoustic model, loaded for forced states */

typedef struct asr_backend_forced_api {
  size_t size;

  /* Loads a model, copied; free ignores NULL. ASR_UNSUPPORTED if the back end does not serve such models, as of full
   * covariances; the CPU does then. The device's options that choose Gaussians or clusters (G10, G11) do not apply. */
  asr_status (*load)(asr_backend_device *, const asr_acoustic_view *, asr_backend_forced **);
  void (*free)(asr_backend_forced *);

  /* Sets loglikes[i] to the log-likelihood of row i in state states[i] (G1 to G4), within the tolerance of `score`. A row's
   * bits do not depend on the other rows. rows: [n_rows][n_dims], all finite; any number. The work is complete on return. */
  asr_status (*score)(asr_backend_device *, asr_backend_forced *, const float *rows, const uint32_t *states, size_t n_rows,
                      float *loglikes);
} asr_backend_forced_api;

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_FORCED_H */
