/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_bench.h - the extension "bench" of a back end: figures for `senone bench` and `senone info --device`, and
 * the members of asr_backend_options that only tests set. The library itself calls none of it. The rules of asr_backend.h for
 * calls, threads and versions hold.
 *
 * TEST OPTIONS
 *   initial_capacity_shift  n > 0: every list, table, mailbox and channel of the search starts with about 1/2^n of its usual
 *                           capacity, so that small cases exhaust each of them
 *   cluster_blocks          number of blocks that advance a channel, at most 16; 1: no clusters; 0: as many as fit. Back ends
 *                           without clusters ignore it
 *   most_memory_bytes       device memory that all objects of the opened device may take together. Allocations beyond it
 *                           fail, as they do on a device that others fill. 0: no limit
 */
#ifndef SENONE_ASR_BACKEND_BENCH_H
#define SENONE_ASR_BACKEND_BENCH_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_BENCH "bench" /* argument of asr_backend_api.extension, which returns an asr_backend_bench_api */

/* Memory that a back end has allocated on a device, by purpose. What is left of the total are buffers of running work. */
typedef struct asr_backend_memory {
  size_t size;
  uint64_t total_bytes;
  uint64_t graph_bytes, acoustic_bytes, features_bytes;
  uint64_t lane_bytes;    /* working memory of the search, for n_lanes channels at a time */
  uint64_t channel_bytes; /* memory of n_channels that have begun, or that ended and left it for reuse */
  uint32_t n_lanes, n_channels;
} asr_backend_memory;

/* A slot is NULL if the back end has no such figures. They are called when all work of the device is done. */
typedef struct asr_backend_bench_api {
  size_t size;

  /* Returns the seconds that the device's kernels ran since the last call, without copies; the first call starts the
   * measurement. */
  asr_status (*kernel_seconds)(asr_backend_device *, double *seconds);

  /* Measures the alternative scoring kernels for models like this one, and stores the fastest in the user's cache. Models
   * loaded later use it. *report has a line for each alternative; the device owns it, until its next call. */
  asr_status (*tune)(asr_backend_device *, const asr_acoustic_view *, const char **report);

  /* Fills *memory with the current use. */
  asr_status (*memory)(asr_backend_device *, asr_backend_memory *memory);
} asr_backend_bench_api;

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_BENCH_H */
