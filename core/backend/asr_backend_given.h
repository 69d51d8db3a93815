/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_given.h - the extension "given" of a back end: rows of a network's outputs, given in the memory of the device,
 * become log-likelihoods in a score buffer.
 *
 * A device with memory of its own reads the rows of asr_feed_device there, so that they never pass through the host. Without
 * this extension rows come from the host, as `loglikes` of asr_advance_job. A *column* is one value of a given row, an output
 * of the network; S1 of docs/equations.md says how columns become states. The rules of asr_backend.h for calls, threads and
 * versions hold.
 */
#ifndef SENONE_ASR_BACKEND_GIVEN_H
#define SENONE_ASR_BACKEND_GIVEN_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_GIVEN "given" /* argument of asr_backend_api.extension, which returns an asr_backend_given_api */

typedef struct asr_backend_given_map asr_backend_given_map; /* a loaded asr_given_map_view */

/* State s of a row becomes offsets[s] plus: column s if column_begin is NULL; else ln of the sum of exp over the columns
 * columns[column_begin[s]] ... columns[column_begin[s + 1] - 1], -inf if there are none. One column is taken as it is, several
 * by the operations of sum_of_columns() in core/base/fused_rows.h, so that every device finds the host's bits where its
 * division is exact. */
typedef struct asr_given_map_view {
  size_t size;
  uint32_t n_columns, n_states;
  const uint32_t *column_begin; /* [n_states + 1], or NULL: n_columns is n_states */
  const uint32_t *columns;
  const float *offsets; /* [n_states] */
} asr_given_map_view;

/* Rows first_given ... first_given + n_rows - 1 of `given` become rows first_row ... of a score buffer. */
typedef struct asr_given_job {
  const asr_backend_given_map *map;
  const asr_device_rows *given; /* its memory stays as it is until the work is done */
  uint64_t first_given;
  uint32_t first_row, n_rows;
} asr_given_job;

/* What a row's entry of `faults` says, if not 0: one more than the number of the first column that is NaN or +inf, or this. */
#define ASR_GIVEN_ALL_CLOSED 0xffffffffu /* all columns are -inf */

typedef struct asr_backend_given_api {
  size_t size;

  /* Loads an acoustic model without Gaussians, which has score buffers alone: `score` and the other extensions are not called
   * for it. free_acoustic frees it. */
  asr_status (*load_buffers)(asr_backend_device *, uint32_t n_states, asr_backend_acoustic **);

  /* Loads a map, copied; free ignores NULL. */
  asr_status (*load_map)(asr_backend_device *, const asr_given_map_view *, asr_backend_given_map **);
  void (*free_map)(asr_backend_given_map *);

  /* [async] Writes rows 0 ... n_rows - 1 of a score buffer of the model, each of which one job has. faults: out [n_rows], one
   * for each row, until wait; with ASR_BACKEND_OVERLAPS, waiting for an advance that was issued afterwards is enough. The
   * values of a row with a fault are any that the search can take. */
  asr_status (*read)(asr_backend_device *, asr_backend_acoustic *, const asr_given_job *jobs, size_t n_jobs, uint32_t n_rows,
                     uint32_t buffer, uint32_t *faults);

  /* The slots below may be called on any thread, beside all others. */

  /* Checks, as far as the driver tells, that n_rows of n_columns are memory of this device: ASR_INVALID_ARGUMENT. Does not look
   * at `event` and `stream`. */
  asr_status (*check)(asr_backend_device *, const asr_device_rows *given, uint64_t n_rows, uint32_t n_columns);
  /* Says, without waiting, whether the producer is done, as `event` and `stream` tell. A failure is the producer's. */
  asr_status (*is_ready)(asr_backend_device *, const asr_device_rows *given, uint32_t *is_ready);
  /* Fills what a producer must know of the device. */
  asr_status (*describe)(asr_backend_device *, asr_engine_memory *);

  /* For tests and `senone bench`, on any thread: a producer, which puts values of the host into memory of the device; they are
   * NaN until it is done, delay_ms from now. Fills *given but for its type, stride and release. free_made waits for the
   * producer and frees the memory. memory: of an engine's or device's description. */
  asr_status (*make)(const asr_engine_memory *memory, const void *values, size_t n_bytes, uint32_t delay_ms,
                     asr_device_rows *given);
  void (*free_made)(asr_device_rows *given);
} asr_backend_given_api;

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_GIVEN_H */
