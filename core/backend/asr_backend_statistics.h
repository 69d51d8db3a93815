/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_statistics.h - the extension "statistics" of a back end: sums over rows from which Gaussians are
 * estimated.
 *
 * A device sums what a round of training needs (T1 and T2 of docs/equations.md), in double. Without this extension the host
 * sums, with the same bits: every sum is taken row by row in the order of its shares, and no operation is contracted.
 * Exponentials and logarithms are those of posteriors.h, which all back ends here share; a back end that computes them in
 * another way has to stay within 1e-10 of the sum of the magnitudes that it adds. The rules of asr_backend.h for calls,
 * threads and versions hold.
 */
#ifndef SENONE_ASR_BACKEND_STATISTICS_H
#define SENONE_ASR_BACKEND_STATISTICS_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_STATISTICS "statistics" /* argument of asr_backend_api.extension: asr_backend_statistics_api */

typedef struct asr_backend_rows asr_backend_rows; /* rows of features on a device */
typedef struct asr_backend_sums asr_backend_sums; /* sums under way */

typedef struct asr_mixture_view { /* Gaussians of one state or of several; states may share a row of weights */
  const uint32_t *dims;           /* [n_dims]: the features of a row that they see */
  uint32_t n_dims, n_gaussians, n_weight_rows, reserved;
  const double *means; /* [n_gaussians][n_dims] */
  /* Diagonal covariances: [n_gaussians][n_dims]. Full ones: the inverse of each covariance's Cholesky factor, a lower
   * triangle by columns: [n_gaussians][n_dims * (n_dims + 1) / 2]. */
  const double *precisions;
  const double *log_norms;   /* [n_gaussians]: the logarithm of the density at the mean */
  const double *log_weights; /* [n_weight_rows][n_gaussians]; -inf is a weight of 0 */
} asr_mixture_view;

/* Names the mixture of each sum. A mixture may have several sums, whose statistics the caller adds. */
typedef struct asr_sums_view {
  size_t size;
  uint32_t full_covariances; /* of all mixtures */
  uint32_t full_moments;     /* 1: second moments of all pairs of dimensions; 0: of each dimension with itself */
  uint32_t n_mixtures, n_sums;
  const asr_mixture_view *mixtures;
  const uint32_t *mixture_of; /* [n_sums] */
} asr_sums_view;

typedef struct asr_row_share { /* a row's share of a state */
  uint32_t row, weight_row;    /* row: of the rows of the call; weight_row: of the sum's mixture */
  float share;                 /* not negative */
} asr_row_share;

typedef struct asr_backend_statistics_api {
  size_t size;

  /* Sets *serves to 1, or to 0 if the device lacks double arithmetic; the slots below are then not called. */
  asr_status (*prepare)(asr_backend_device *, uint32_t *serves);

  /* Copies rows [n_rows][n_dims], all finite, to the device. free_rows ignores NULL; rows may be freed when `add` has
   * returned. */
  asr_status (*load_rows)(asr_backend_device *, const float *rows, uint32_t n_rows, uint32_t n_dims, asr_backend_rows **);
  void (*free_rows)(asr_backend_rows *);

  /* Begins sums with zeros; the view is copied. sums_end frees them and ignores NULL. */
  asr_status (*sums_begin)(asr_backend_device *, const asr_sums_view *, asr_backend_sums **);
  void (*sums_end)(asr_backend_sums *);

  /* [async] Adds shares to the sums, after those of earlier calls. The shares of sum i are shares[share_begin[i]] to
   * shares[share_begin[i + 1] - 1], in this order. A Gaussian's share in a row is the row's share times T1's; below 1e-10
   * it is 0. A row whose density is 0 has no share in any Gaussian. After a failure only sums_end is allowed. */
  asr_status (*add)(asr_backend_device *, asr_backend_sums *, const asr_backend_rows *, const asr_row_share *shares,
                    const uint64_t *share_begin);

  /* Waits, and writes all sums so far, one after the other. Each has n_k [n_weight_rows][n_gaussians], a_k
   * [n_gaussians][n_dims], B_k [n_gaussians][n_dims] or, with full moments, lower triangles by rows, and the sum of share
   * times log-likelihood, over the shares above 0. */
  asr_status (*read)(asr_backend_device *, asr_backend_sums *, double *values);
} asr_backend_statistics_api;

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_STATISTICS_H */
