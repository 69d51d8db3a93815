/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_signals.h - the extension "signals" of a back end: the fused step, in which samples become log-likelihoods.
 *
 * A device with memory of its own can keep an utterance's cepstra, rows of features and scores there, so that none of them is
 * copied to the host. Without this extension the core calls `extract`, makes the rows itself, and calls `score`. A *signal* is
 * one utterance's samples as the device holds them; the slot `step` is the fused step. (The engine's own step is one turn of
 * its thread, and the fusion of models is another extension.) The rules of asr_backend.h for calls, threads and versions hold.
 */
#ifndef SENONE_ASR_BACKEND_SIGNALS_H
#define SENONE_ASR_BACKEND_SIGNALS_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_SIGNALS "signals" /* argument of asr_backend_api.extension, which returns an asr_backend_signals_api */

typedef struct asr_backend_signal asr_backend_signal; /* the feature state of one utterance */

/* A tap contributes to a row's value (equations F6, F9 and F10): weight * cepstrum i of a level, taken from the frame
 * `offset` after the row's. column: level * n_ceps + i. */
typedef struct asr_dynamic_tap {
  int32_t offset;
  uint32_t column;
  float weight;
} asr_dynamic_tap;

/* Tables that turn cepstra into rows. For each frame, in order: [noise removal] -> [normalisation] = level 0. Level k
 * of frame t is the sum over j of slope[j] * level k - 1 of frame t + j - n_slope / 2. Value i of row t is the sum of
 * taps[tap_begin[i] .. tap_begin[i + 1]). [transform] of the values gives the row. At every level, frames before the first
 * repeat the first and, once the signal has ended, frames after the last repeat the last. Sums are taken in double, in the
 * order of the tables. They are rounded to float where a cepstrum, a level, a value or a row is stored. */
struct asr_dynamics_view {
  size_t size;
  uint32_t n_ceps;                    /* cepstra per level */
  const float *noise_dct;             /* [n_ceps][n_mel]: `extract` gives log mel energies, from which noise is removed
                                         before this transform; NULL: it gives cepstra */
  const float *prior_mean;            /* [n_ceps], initial mean of live normalisation */
  double prior_frames, window_frames; /* weight of a mean; frames after which it is renewed */
  int32_t counted_cepstrum;           /* frames with this cepstrum negative are neither counted nor normalised; -1 = none */
  uint32_t n_levels, n_slope;         /* at least 1; n_slope is odd if there are several levels */
  const float *slope;                 /* [n_slope] */
  uint32_t n_values, lookahead;       /* lookahead: frames after its own that a row needs */
  const uint32_t *tap_begin;          /* [n_values + 1] */
  const asr_dynamic_tap *taps;
  uint32_t n_dims, transform_cols; /* length of a row; n_values, or one more with offsets in the last column */
  const float *transform;          /* [n_dims][transform_cols]; NULL: rows are the values */
  uint32_t whole_variance;         /* normalisation by the whole signal also divides by the deviation */
};

typedef struct asr_signal_options {
  size_t size;
  uint32_t warp;           /* index of the filter bank, < n_warps */
  uint32_t normalise_live; /* 1: live normalisation */
  /* 1, and normalise_live 0: cepstra lose the mean of the whole signal, over the counted frames (F9, batch). The signal makes
   * no row before it ends, and has at most most_whole_frames frames, so this is used only if that is not 0. signal_begin
   * returns ASR_OUT_OF_MEMORY if the device has no memory for so many frames of another signal. */
  uint32_t normalise_whole, reserved;
} asr_signal_options;

/* One utterance's job of a fused step: n_frames more frames of its signal, and its next n_rows rows. The rows go to the score
 * buffer from row first_row on; the rows of successive jobs follow each other, starting at row 0. At most frames - lookahead
 * rows are made in total or, once `ends` is set, one per frame. At most 2 * window_frames + lookahead frames, including the
 * job's own, have no row yet when a step begins, but for signals with normalise_whole. */
typedef struct asr_step_job {
  asr_backend_signal *signal; /* each at most once in a call; NULL: the job has n_rows rows from the host */
  const float *samples;       /* as in asr_extract_job; n_frames may be 0 */
  uint32_t n_frames;
  uint32_t ends;     /* 1: the signal ends after these frames */
  const float *rows; /* [n_rows][n_dims] if signal is NULL */
  uint32_t first_row, n_rows;
} asr_step_job;

typedef struct asr_backend_signals_api {
  size_t size;

  /* Prepares for signals of these features. Sets *makes_rows to 1, or to 0 if the device cannot make their rows; the slots
   * below are then not called for these features. */
  asr_status (*prepare)(asr_backend_device *, asr_backend_features *, uint32_t *makes_rows);

  /* Begins the signal of an utterance; signal_end frees it and ignores NULL. */
  asr_status (*signal_begin)(asr_backend_device *, asr_backend_features *, const asr_signal_options *, asr_backend_signal **);
  void (*signal_end)(asr_backend_signal *);

  /* [async] Fuses `extract`, dynamics and `score` for many signals. It turns samples into log-likelihoods in a score buffer
   * of the model, for `advance`. After a failure the signals of the call can only be ended. */
  asr_status (*step)(asr_backend_device *, asr_backend_features *, asr_backend_acoustic *, const asr_step_job *jobs,
                     size_t n_jobs, uint32_t buffer);

  /* The slots below are for streams with a speaker. A back end has both, or a table whose size ends before them. */

  /* Sets the transform of a signal's rows in later steps, copied. Value i of a row x, which the tables made, becomes
   * transform[i][n_dims] + the sum over j of transform[i][j] * x[j] (equation A1). The sum is taken in double, in this order,
   * limited to finite floats, and rounded. transform: [n_dims][n_dims + 1]; NULL: none, as after signal_begin. */
  asr_status (*set_transform)(asr_backend_device *, asr_backend_signal *, const float *transform);

  /* [async] Works like `step`, and returns rows as they are before the signal's transform. rows[i] is for jobs[i]: out
   * [n_rows][n_dims], until wait; NULL: not wanted, as for every job without a signal. With ASR_BACKEND_OVERLAPS,
   * waiting for an advance that was issued after the step is enough. */
  asr_status (*step_with_rows)(asr_backend_device *, asr_backend_features *, asr_backend_acoustic *, const asr_step_job *jobs,
                               float *const *rows, size_t n_jobs, uint32_t buffer);

  uint32_t most_whole_frames, reserved; /* maximum length of signals with normalise_whole; 0: there are none */
} asr_backend_signals_api;

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_SIGNALS_H */
