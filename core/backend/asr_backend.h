/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend.h - the contract of a back end: one C table that a plugin exports and the core calls.
 *
 * A back end computes; it knows no API handle, file format or word string. The core knows no vendor. A back end gets its
 * inputs as the plain arrays of the *_view structs below, so conventions of HTK, Kaldi or Sphinx never reach it. A filter
 * bank is a table of weights, a GMM is a table of Gaussians, a graph is a table of arcs.
 *
 * WRITING ONE  Make a folder under plugins/ that exports asr_backend_entry. CMake builds it, the loader finds it, the
 * conformance suite runs it; no other file needs an edit. The plugin must not export any other symbol. It must load
 * without its hardware, which probe then reports as missing. It must not crash, throw, print, exit or touch signals.
 *
 * CALLS  Slots return ASR_OK or a negative asr_status; after a failure last_error() gives one sentence for the calling
 * thread. One thread at a time (the device's owner in the core) calls the slots of a device; finish_advances states the
 * exceptions. Different devices are independent. Slots marked [async] may return before the work is done; the work is
 * done and its outputs are valid after wait(). Whatever their inner overlap, results are those of the calls carried out
 * in order. Pointers passed to a slot are read during the call only, except where "until" says otherwise. The core never
 * passes NULL where a slot does not allow it.
 *
 * VERSIONS  The table and the structs begin with their size and only grow at the end; the size tells which members
 * exist. `abi` changes when that is not enough, and a table of another abi is rejected.
 */
#ifndef SENONE_ASR_BACKEND_H
#define SENONE_ASR_BACKEND_H

#include "asr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_ABI 1u
#define ASR_BACKEND_ENTRY_NAME "asr_backend_entry"

typedef struct asr_backend_device asr_backend_device;     /* one opened device */
typedef struct asr_backend_features asr_backend_features; /* a loaded front end */
typedef struct asr_backend_acoustic asr_backend_acoustic; /* a loaded acoustic model and its two score buffers */
typedef struct asr_backend_graph asr_backend_graph;       /* a loaded graph */
typedef struct asr_backend_channel asr_backend_channel;   /* the search state of one utterance */
typedef struct asr_backend_signal asr_backend_signal;     /* the feature state of one utterance */

/* Functions that the core offers to a plugin; valid until the plugin is unloaded. */
typedef struct asr_host_api {
  size_t size;
  void (*log)(asr_log_level level, const char *message); /* any thread */
} asr_host_api;

typedef struct asr_backend_device_info {
  size_t size;
  char name[128];        /* the device's name in the driver */
  uint64_t memory_bytes; /* 0 if unknown */
  int32_t score;         /* > 0; the core takes the highest. CPU 10; GPUs 100 and more */
  uint32_t n_cores;
} asr_backend_device_info;

typedef struct asr_backend_options {
  size_t size;
  uint32_t max_lanes;      /* largest number of channels in one advance */
  uint32_t window_frames;  /* largest number of frames of one channel in one advance */
  uint32_t n_threads;      /* host threads that the back end may compute with; 0 = one per core */
  uint32_t model_bits;     /* bits of a Gaussian's parameter. 16: the back end may halve its models and exceed the tolerance
                              of docs/equations.md, G. 0 or 32: it may not */
  uint32_t small_rooms;    /* for tests. n > 0: every list, table, mailbox and channel of the search starts with about 1/2^n
                              of its usual capacity, so that small cases exhaust each. 0: usual capacity */
  uint32_t cluster_blocks; /* for tests: blocks that advance a channel, at most 16; 1: no clusters; 0: as many as fit. Back
                              ends without clusters ignore it */
  uint32_t timeout_ms;     /* time limit of device work; 0: none. Work beyond it is abandoned: the waiting slot and all later
                              ones return ASR_DEVICE_LOST, and memory freed then is leaked */
} asr_backend_options;

/* ---- front end: 004_... (MFCC); equations F1-F8 in docs/equations.md ---------------------------------------------- */

/* A mel band is one triangle of a filter bank; it weights spectrum bins first_bin ... first_bin + n_bins - 1. */
typedef struct asr_mel_band {
  uint32_t first_bin, n_bins;
  uint32_t first_weight; /* index into asr_features_view.mel_weights */
} asr_mel_band;

typedef enum asr_dc_removal { ASR_DC_KEEP = 0, ASR_DC_BEFORE_PREEMPHASIS = 1, ASR_DC_AFTER_PREEMPHASIS = 2 } asr_dc_removal;

/* A tap contributes to a row's value (equations F6, F9 and F10): weight * cepstrum i of a level, taken from the frame
 * `offset` after the row's. column: level * n_ceps + i. */
typedef struct asr_dynamic_tap {
  int32_t offset;
  uint32_t column;
  float weight;
} asr_dynamic_tap;

/* Tables that turn cepstra into rows. For each frame, in order: [noise removal] -> [live normalisation] = level 0. Level k
 * of frame t is the sum over j of slope[j] * level k - 1 of frame t + j - n_slope / 2. Value i of row t is the sum of
 * taps[tap_begin[i] .. tap_begin[i + 1]). [transform] of the values gives the row. At every level, frames before the first
 * repeat the first and, once the signal has ended, frames after the last repeat the last. Sums are taken in double, in the
 * order of the tables. They are rounded to float where a cepstrum, a level, a value or a row is stored. */
typedef struct asr_dynamics_view {
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
} asr_dynamics_view;

/* Front end, in order: [dither] -> [dc] -> [raw energy] -> y[n] = x[n] - preemphasis * x[n-1] -> [dc] -> window -> [windowed
 * energy] -> FFT of fft_samples (zero-padded) -> spectrum -> mel -> log -> dct. Samples have the scale of 16-bit integers. */
typedef struct asr_features_view {
  size_t size;
  uint32_t window_samples, shift_samples, fft_samples; /* fft_samples: a power of two, 64..8192, >= window_samples */
  uint32_t n_mel, n_ceps, n_warps;
  const float *window;           /* [window_samples] */
  const asr_mel_band *mel_bands; /* [n_warps][n_mel] */
  const float *mel_weights;
  const float *dct; /* [n_ceps][n_mel], scaling and lifter included */
  float preemphasis;
  uint32_t preemphasis_in_frame; /* predecessor of a frame's first sample: 0 the preceding sample, 1 the first sample itself */
  asr_dc_removal dc_removal;     /* subtracts the mean of the frame's window_samples */
  uint32_t magnitude;            /* spectrum: 0 power |X|^2, 1 magnitude |X| */
  float log_add, log_floor;      /* ln(max(E, log_floor) + log_add) */
  int32_t energy_row;            /* cepstrum replaced by the log energy ln(max(sum x^2, log_floor)); -1 = none */
  uint32_t energy_windowed;      /* the energy is taken: 0 after dc removal, before pre-emphasis; 1 after the window */
  float dither;                  /* 0 = none, else standard deviation of noise made from (dither_seed, frame, sample) */
  uint32_t dither_seed;
  const asr_dynamics_view *dynamics; /* tables for `step`; NULL: not described */
} asr_features_view;

typedef struct asr_extract_job {
  const float *samples; /* frame t starts at samples[t * shift_samples]; samples[-1] is readable and holds the preceding
                           sample */
  uint64_t first_frame; /* number of frame 0 in its utterance */
  uint32_t n_frames;
  uint32_t warp;  /* index of the filter bank, < n_warps */
  float *cepstra; /* out [n_frames][n_ceps] */
} asr_extract_job;

/* ---- acoustic model: 000_..., 001_... (GMM likelihoods); equations G1-G4 in docs/equations.md ---------------------- */

typedef enum asr_covariance { ASR_COVARIANCE_DIAGONAL = 0, ASR_COVARIANCE_FULL = 1 } asr_covariance;

/* A feature stream selects the n_dims features dims[0 ... n_dims - 1] of a row. */
typedef struct asr_gmm_stream {
  uint32_t n_dims;
  const uint32_t *dims;
} asr_gmm_stream;

/* A codebook is a set of Gaussians of one stream, used by one state or shared by many. Mean k begins at
 * means[first_mean + k * d], where d is the stream's n_dims. Precision (inverse covariance) of Gaussian k has number
 * covariance_of[first_gaussian + k] in the model and begins at precisions[precision_at[number]]. It has d values if
 * diagonal, else the lower triangle by rows (d * (d + 1) / 2). */
typedef struct asr_gmm_codebook {
  uint32_t stream;
  uint32_t n_gaussians;
  uint64_t first_gaussian; /* counted over all codebooks */
  uint64_t first_mean;
} asr_gmm_codebook;

/* loglike[t][s] = sum over streams j of ln sum_k exp(log_weight[k]) N(x_j; mean_k, covariance_k), where k runs over
 * codebook state_codebook[s][j] and its log weights begin at log_weights[state_weight[s][j]]. -inf weights are allowed. */
typedef struct asr_acoustic_view {
  size_t size;
  asr_covariance covariance;
  uint32_t n_dims, n_states, n_streams, n_codebooks, n_covariances;
  uint64_t n_gaussians;
  const asr_gmm_stream *streams;     /* [n_streams] */
  const asr_gmm_codebook *codebooks; /* [n_codebooks] */
  const float *means;
  const uint32_t *covariance_of; /* [n_gaussians] */
  const uint64_t *precision_at;  /* [n_covariances] */
  const float *precisions;
  const uint32_t *state_codebook; /* [n_states][n_streams] */
  const uint64_t *state_weight;   /* [n_states][n_streams] */
  const float *log_weights;
} asr_acoustic_view;

/* One model's job of a score_models, with the arguments of `score`. */
typedef struct asr_score_job {
  asr_backend_acoustic *acoustic;
  const float *features;
  uint32_t n_rows, buffer;
  float *loglikes;
} asr_score_job;

/* ---- graph and search: 003_... (WFST decoding); "The search, defined" in docs/search.md --------------------------- */

typedef struct asr_graph_arc {
  uint32_t next_state;
  uint32_t transition_id; /* 1..n_transition_ids for emitting arcs, 0 for epsilon arcs */
  uint32_t word;          /* 0 = none */
  float graph_cost;       /* -ln; finite */
} asr_graph_arc;

/* State s has the emitting arcs arcs[emitting_begin[s] .. emitting_begin[s+1]) and the epsilon arcs arcs[epsilon_begin[s] ..
 * epsilon_begin[s+1]). All emitting arcs precede all epsilon arcs; an arc's index in `arcs` breaks ties. */
typedef struct asr_graph_view {
  size_t size;
  uint32_t n_states, start_state, n_transition_ids, n_pdfs;
  uint64_t n_arcs;
  const uint32_t *emitting_begin; /* [n_states + 1] */
  const uint32_t *epsilon_begin;  /* [n_states + 1] */
  const asr_graph_arc *arcs;      /* [n_arcs] */
  const float *final_costs;       /* [n_states], +inf = not final */
  const uint32_t *pdf_of;         /* [n_transition_ids + 1]: column of the log-likelihoods; [0] unused */
  uint32_t *arrays_in_use;        /* since 0.2.0, may be NULL: load_graph sets it to 0 if it has copied everything, so that the
                                     arrays can be freed */
} asr_graph_view;

/* A graph as graph.bin stores it, defined in core/graph/packed/packed_graph.h. Internal to the library; it may change. */
typedef struct asr_packed_graph asr_packed_graph;

typedef struct asr_search_options {
  size_t size;
  float beam, lattice_beam, acoustic_scale, word_insertion_cost; /* lattice_beam 0: best path only */
  uint32_t max_active, min_active;
} asr_search_options;

/* One channel's job of an advance: n_frames rows of log-likelihoods, beginning at row first_row of a score buffer. If
 * loglikes is not NULL the rows come from the host's loglikes[n_frames][n_pdfs] (readable until wait). */
typedef struct asr_advance_job {
  asr_backend_channel *channel;
  const float *loglikes;
  uint32_t buffer, first_row, n_frames;
  uint32_t wants; /* asr_advance_wants, or 0 */
} asr_advance_job;

/* Results requested from the channel after this advance and before its next one. A back end may compute them together with
 * the advance. best_path, best_paths, lattice and lattices then return the state after this advance. A job that requests
 * results may have no frames; its first_row and loglikes are then ignored. */
typedef enum asr_advance_wants {
  ASR_WANTS_PATH = 1,
  ASR_WANTS_LATTICE = 2,
  ASR_WANTS_FINAL = 4 /* with use_final set */
} asr_advance_wants;

/* One arc of a path. Epsilon arcs without a word are omitted. */
typedef struct asr_path_arc {
  uint32_t frame;         /* frames consumed before the arc */
  uint32_t transition_id; /* 0 for epsilon arcs */
  uint32_t word;
  float graph_cost;    /* word_insertion_cost not included */
  float acoustic_cost; /* -loglike, unscaled; 0 for epsilon arcs */
} asr_path_arc;

typedef struct asr_path {
  const asr_path_arc *arcs; /* owned by the channel, valid until the next call for the channel */
  uint64_t n_arcs;
  uint32_t n_frames;      /* frames advanced so far */
  uint32_t reached_final; /* 1: ends in a final state, final_cost included in total_cost */
  uint32_t beam_died;     /* 1: no token survived; the path is the best one up to that frame */
  float final_cost;
  double total_cost; /* sum of graph_cost + acoustic_scale * acoustic_cost + word insertion costs + final_cost */
  uint64_t n_tokens, n_arcs_expanded; /* summed over frames, for benchmarks */
} asr_path;

/* One arc of a lattice. */
typedef struct asr_raw_arc {
  uint32_t next_state;
  uint32_t transition_id; /* 0 for epsilon arcs */
  uint32_t word;          /* 0 = none */
  float graph_cost;       /* word_insertion_cost not included */
  float acoustic_cost;    /* -loglike, unscaled; 0 for epsilon arcs */
} asr_raw_arc;

/* The tokens and arcs that remain after the pruning in docs/search.md, "The lattice". States are sorted by frame and such
 * that every arc leads to a higher-numbered state; state 0 is the start. Arcs of state s:
 * arcs[arc_begin[s] .. arc_begin[s + 1]). */
typedef struct asr_raw_lattice {
  uint32_t n_states, n_frames; /* n_frames: frames advanced so far */
  uint64_t n_arcs;
  const uint64_t *arc_begin; /* [n_states + 1]; all arrays are owned by the channel, valid until the next call for the
                                channel */
  const asr_raw_arc *arcs;   /* [n_arcs] */
  const uint32_t *frames;    /* [n_states]: frames consumed before the state */
  const float *final_costs;  /* [n_states], +inf = no path ends there */
  uint32_t reached_final;    /* as in asr_path */
  uint32_t beam_died;
} asr_raw_lattice;

/* Memory that a back end has allocated on a device, by purpose. The rest of the total is buffers of running work. */
typedef struct asr_backend_memory {
  size_t size;
  uint64_t total_bytes;
  uint64_t graph_bytes, acoustic_bytes, features_bytes;
  uint64_t lane_bytes;    /* working memory of the search, for n_lanes channels at a time */
  uint64_t channel_bytes; /* memory of n_channels that have begun, or that ended and left it for reuse */
  uint32_t n_lanes, n_channels;
} asr_backend_memory;

/* ---- the fused step ------------------------------------------------------------------------------------------------- */

typedef struct asr_signal_options {
  size_t size;
  uint32_t warp;           /* index of the filter bank, < n_warps */
  uint32_t normalise_live; /* 0: cepstra are not normalised */
} asr_signal_options;

/* One utterance's job of a step: n_frames more frames of its signal, and its next n_rows rows. The rows go to the score
 * buffer from row first_row on; the rows of successive jobs follow each other, starting at row 0. At most frames - lookahead
 * rows are made in total or, once `ends` is set, one per frame. At most 2 * window_frames + lookahead frames, including the
 * job's own, have no row yet when a step begins. */
typedef struct asr_step_job {
  asr_backend_signal *signal; /* NULL: the job has n_rows rows from the host */
  const float *samples;       /* as in asr_extract_job; n_frames may be 0 */
  uint32_t n_frames;
  uint32_t ends;     /* 1: the signal ends after these frames */
  const float *rows; /* [n_rows][n_dims] if signal is NULL */
  uint32_t first_row, n_rows;
} asr_step_job;

/* ---- the table ----------------------------------------------------------------------------------------------------- */

typedef struct asr_backend_api {
  uint32_t abi; /* ASR_BACKEND_ABI */
  size_t size;
  const char *name; /* "cuda": device ids are name:index */

  /* Lists devices: writes up to `capacity` infos (the core sets their size) and the number of devices. Having none is not an
   * error: *n_devices = 0 and last_error() gives the reason ("no NVIDIA driver"). Must be quick and leave nothing behind. */
  asr_status (*probe)(asr_backend_device_info *infos, size_t capacity, size_t *n_devices);
  asr_status (*open)(uint32_t index, const asr_backend_options *options, asr_backend_device **device);
  void (*close)(asr_backend_device *device); /* called after everything loaded and begun on the device was freed */
  const char *(*last_error)(void);           /* of the calling thread; valid until its next call */

  /* Load slots copy or repack their arguments. Only the arrays of a graph view stay readable and unchanged until free_graph,
   * or until load_graph returns with *view->arrays_in_use = 0. */
  asr_status (*load_features)(asr_backend_device *, const asr_features_view *, asr_backend_features **);
  void (*free_features)(asr_backend_features *);
  asr_status (*load_acoustic)(asr_backend_device *, const asr_acoustic_view *, asr_backend_acoustic **);
  void (*free_acoustic)(asr_backend_acoustic *);
  asr_status (*load_graph)(asr_backend_device *, const asr_graph_view *, asr_backend_graph **);
  void (*free_graph)(asr_backend_graph *);

  /* Turns samples into cepstra, for many utterances; complete on return. */
  asr_status (*extract)(asr_backend_device *, asr_backend_features *, const asr_extract_job *jobs, size_t n_jobs);

  /* [async] Scores features[n_rows][n_dims] for all states, into score buffer 0 or 1 of the model (at most
   * max_lanes * window_frames rows). Also writes loglikes[n_rows][n_states] unless that is NULL. features and loglikes
   * belong to the slot until wait. An advance may read one buffer while the other is written. */
  asr_status (*score)(asr_backend_device *, asr_backend_acoustic *, const float *features, uint32_t n_rows, uint32_t buffer,
                      float *loglikes);

  /* A channel begins at the graph's start state with its epsilon arcs followed; channel_end frees it. */
  asr_status (*channel_begin)(asr_backend_device *, asr_backend_graph *, const asr_search_options *, asr_backend_channel **);
  void (*channel_end)(asr_backend_channel *);

  /* [async] Advances every channel over its frames. Each channel occurs at most once in a call; graphs may differ.
   * `acoustic` is the model whose score buffers the jobs name; NULL if every job has host rows. A channel without surviving
   * tokens stays so and skips its frames. */
  asr_status (*advance)(asr_backend_device *, asr_backend_acoustic *, const asr_advance_job *jobs, size_t n_jobs);

  /* Returns the best path of the frames advanced so far (waits for them). use_final != 0 and a token in a final state: the
   * token with the least cost plus final cost among these. Otherwise the token with the least cost. Ties: lower state
   * number. */
  asr_status (*best_path)(asr_backend_device *, asr_backend_channel *, uint32_t use_final, asr_path *path);

  /* Waits until all async work of the device is done, and reports its failures. */
  asr_status (*wait)(asr_backend_device *);

  /* Returns the lattice of the frames advanced so far (waits for them), for a channel whose lattice_beam is above 0.
   * use_final as in best_path. ASR_UNSUPPORTED if the graph has a cycle of epsilon arcs. NULL in back ends without lattices. */
  asr_status (*lattice)(asr_backend_device *, asr_backend_channel *, uint32_t use_final, asr_raw_lattice *lattice);

  /* Returns the seconds that the device's kernels ran since the last call, without copies; the first call starts the
   * measurement. For benchmarks; all work must be done. NULL in back ends without kernels of their own. */
  asr_status (*kernel_seconds)(asr_backend_device *, double *seconds);

  /* Returns the next settled piece of the lattice ("Pieces" in docs/search.md), for a channel as in `lattice`; n_states = 0
   * if none is settled. The piece leaves the channel: later pieces and later results of `lattice` begin with the states that
   * end it. final_costs of these states are their extra costs. Call between advances. NULL in back ends that make no pieces. */
  asr_status (*lattice_piece)(asr_backend_device *, asr_backend_channel *, asr_raw_lattice *piece);

  /* Calls that read a channel may be repeated for that channel alone after a call for many channels has failed. If a lack of
   * memory left a channel half changed, every later call for it fails, too.
   *
   * `lattice` of many channels, each at most once, into lattices[n_channels]. NULL in back ends where one call is no faster. */
  asr_status (*lattices)(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                         asr_raw_lattice *lattices);

  /* Measures the alternative scoring kernels for models like this one, and stores the fastest in the user's cache. Models
   * loaded later use it. *report has a line for each alternative; the device owns it, until its next call. For benchmarks;
   * all work must be done. NULL in back ends with one alternative only. */
  asr_status (*tune)(asr_backend_device *, const asr_acoustic_view *, const char **report);

  /* Fills *memory with the current use. NULL in back ends without memory of their own. */
  asr_status (*memory)(asr_backend_device *, asr_backend_memory *memory);

  /* `best_path` of many channels, each at most once, into paths[n_channels]. NULL in back ends where one call is no faster. */
  asr_status (*best_paths)(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                           asr_path *paths);

  /* Begins the signal of an utterance; signal_end frees it. ASR_UNSUPPORTED, with any options, if the device cannot make
   * rows of these features; `step` is then unavailable for them. These three slots are NULL in back ends that share the
   * host's memory. */
  asr_status (*signal_begin)(asr_backend_device *, asr_backend_features *, const asr_signal_options *, asr_backend_signal **);
  void (*signal_end)(asr_backend_signal *);

  /* [async] Fuses `extract`, dynamics and `score` for many signals, each at most once. It turns samples into log-likelihoods
   * in a score buffer, for advance, without copies to the host. After a failure the signals of the call can only be ended. */
  asr_status (*step)(asr_backend_device *, asr_backend_features *, asr_backend_acoustic *, const asr_step_job *jobs,
                     size_t n_jobs, uint32_t buffer);

  /* [async] `score` of many models, each at most once, which may differ in everything. Results are the same bits. NULL in
   * back ends where one call is no faster. */
  asr_status (*score_models)(asr_backend_device *, const asr_score_job *jobs, size_t n_jobs);

  /* Reports the result of a channel in the finished advances, without waiting: ASR_OK, or the reason why it no longer
   * consumes frames, repeated on every call. A channel's own failure (no memory for it, a negative cycle) is its outcome,
   * and other channels of the advance go on; wait() may report it, too. NULL: a failure concerns all channels. */
  asr_status (*outcome)(asr_backend_device *, asr_backend_channel *);

  /* Waits until at most n_left advances are running. Back ends with this slot run two advances at a time. `advance` waits
   * for the last but one; it waits for the last only if they share a channel. So the core reads results of one advance and
   * prepares the next while the device runs the other. Two slots may run on any thread, beside other slots and concurrently
   * for different channels. They are `lattice`, for a channel in no running advance whose last job requested it, and
   * lattice_piece, any time between begin and end of the channel. They do not wait for an advance then, nor does best_path
   * if the job requested it. `outcome` reports failures. NULL in back ends that run one advance at a time. */
  asr_status (*finish_advances)(asr_backend_device *, uint32_t n_left);

  /* `load_graph` of a graph that the back end reads in place: it stays readable and unchanged until free_graph. For the back
   * end inside the library. NULL in all others, for which the core unpacks the arrays. */
  asr_status (*load_packed_graph)(asr_backend_device *, const asr_packed_graph *, asr_backend_graph **);

  /* Returns the number of first arcs of best_path that are on the path of every token ("The common path" in docs/search.md).
   * Every later path begins with these arcs. For a channel in no running advance; the result of best_path stays valid. NULL
   * in back ends that cannot compute it. */
  asr_status (*common_path)(asr_backend_device *, asr_backend_channel *, uint64_t *n_arcs);
} asr_backend_api;

/* The only exported function of a plugin. host_abi is the core's ASR_BACKEND_ABI; a plugin that cannot serve it returns
 * NULL. The table is static. The core calls it once for each load of the plugin. */
typedef const asr_backend_api *(*asr_backend_entry_fn)(uint32_t host_abi, const asr_host_api *host);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_H */
