/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend.h - what a back end is: one C table that a plugin exports and the core calls.
 *
 * A back end computes; it knows no API handle, file format or word string. The core knows no vendor. Everything a back
 * end needs is passed as the plain arrays of the *_view structs below, so conventions of HTK, Kaldi or Sphinx never reach
 * it: a filter bank is a table of weights, a GMM is a table of Gaussians, a graph is a table of arcs.
 *
 * WRITING ONE  Make a folder under plugins/ that exports asr_backend_entry. CMake builds it, the loader finds it, the
 * conformance suite runs it; nothing else is edited. The plugin must not export any other symbol, must not fail to load
 * where its hardware is missing (probe reports that), and must not crash, throw, print, exit or touch signals.
 *
 * CALLS  Slots return ASR_OK or a negative asr_status, after which last_error() gives one sentence for the calling thread.
 * All slots of a device are called from one thread at a time (its owner in the core), but for what finish_advances allows;
 * different devices are independent.
 * Slots marked [async] may return before the work is done: it is done, and its outputs valid, after wait(). Whatever their
 * inner overlap, results are those of the calls carried out in order. Pointers passed to a slot are read during the call
 * only, except where "until" says otherwise. The core never passes NULL where a slot does not allow it.
 *
 * VERSIONS  The table and the structs begin with their size and only grow at the end; the size says how much of a struct
 * is there. `abi` changes when that is not enough, and a table of another abi is rejected.
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

/* What the core offers to a plugin; valid until the plugin is unloaded. */
typedef struct asr_host_api {
  size_t size;
  void (*log)(asr_log_level level, const char *message); /* any thread */
} asr_host_api;

typedef struct asr_backend_device_info {
  size_t size;
  char name[128];        /* as the driver calls the device */
  uint64_t memory_bytes; /* 0 if unknown */
  int32_t score;         /* > 0; the core takes the highest. CPU 10; GPUs 100 and more */
  uint32_t n_cores;
} asr_backend_device_info;

typedef struct asr_backend_options {
  size_t size;
  uint32_t max_lanes;      /* most channels in one advance */
  uint32_t window_frames;  /* most frames of one channel in one advance */
  uint32_t n_threads;      /* host threads the back end may use for computing, 0 = one for each core */
  uint32_t model_bits;     /* of a parameter of a Gaussian: 16 lets a back end halve its models and lose exactness beyond the
                              tolerance of docs/equations.md, G; 0 or 32: it may not */
  uint32_t small_rooms;    /* for tests: n > 0: every list, table, mail box and channel of the search begins with about 1/2^n of
                              its usual room, so that small cases run out of each; 0: the usual room */
  uint32_t cluster_blocks; /* for tests: blocks that advance a channel, at most 16; 1: no clusters; 0: as many as there is room
                              for. Back ends without clusters ignore it */
  uint32_t timeout_ms;     /* work of the device that has not ended after so long is given up: the waiting slot, and all after
                              it, return ASR_DEVICE_LOST, and what is freed then is leaked; 0: no limit */
} asr_backend_options;

/* ---- front end: 004_... (MFCC); equations F1-F8 in docs/equations.md ---------------------------------------------- */

/* One triangle of a filter bank: it weighs spectrum bins first_bin ... first_bin + n_bins - 1. */
typedef struct asr_mel_band {
  uint32_t first_bin, n_bins;
  uint32_t first_weight; /* index into asr_features_view.mel_weights */
} asr_mel_band;

typedef enum asr_dc_removal { ASR_DC_KEEP = 0, ASR_DC_BEFORE_PREEMPHASIS = 1, ASR_DC_AFTER_PREEMPHASIS = 2 } asr_dc_removal;

/* From cepstra to rows; equations F6, F9 and F10. weight * cepstrum i of a level, from the frame `offset` after the row's;
 * column: level * n_ceps + i. */
typedef struct asr_dynamic_tap {
  int32_t offset;
  uint32_t column;
  float weight;
} asr_dynamic_tap;

/* For each frame, in order: [noise removal] -> [live normalisation] = level 0. Level k of frame t is the sum over j of
 * slope[j] * level k - 1 of frame t + j - n_slope / 2. Value i of row t is the sum of taps[tap_begin[i] .. tap_begin[i + 1]).
 * [transform] of the values gives the row. Frames before the first are the first and, once the signal has ended, those after
 * the last are the last, of each level. Sums are taken in double, in the order of the tables, and rounded to float where a
 * cepstrum, a level, a value or a row is stored. */
typedef struct asr_dynamics_view {
  size_t size;
  uint32_t n_ceps;                    /* of a level */
  const float *noise_dct;             /* [n_ceps][n_mel]: `extract` gives log mel energies, which lose their noise and go
                                         through this transform; NULL: it gives cepstra */
  const float *prior_mean;            /* [n_ceps], the mean that live normalisation begins with */
  double prior_frames, window_frames; /* weight of a mean; frames after which it is renewed */
  int32_t counted_cepstrum;           /* frames where this one is negative are not counted and stay as they are; -1 = none */
  uint32_t n_levels, n_slope;         /* 1 or more; odd where there are several levels */
  const float *slope;                 /* [n_slope] */
  uint32_t n_values, lookahead;       /* lookahead: frames after its own that a row needs */
  const uint32_t *tap_begin;          /* [n_values + 1] */
  const asr_dynamic_tap *taps;
  uint32_t n_dims, transform_cols; /* length of a row; n_values, or one more: the last column is added */
  const float *transform;          /* [n_dims][transform_cols]; NULL: rows are the values */
} asr_dynamics_view;

/* In order: [dither] -> [dc] -> [raw energy] -> y[n] = x[n] - preemphasis * x[n-1] -> [dc] -> window -> [windowed energy]
 * -> FFT of fft_samples (zero-padded) -> spectrum -> mel -> log -> dct. Samples have the scale of 16-bit integers. */
typedef struct asr_features_view {
  size_t size;
  uint32_t window_samples, shift_samples, fft_samples; /* fft_samples: a power of two, 64..8192, >= window_samples */
  uint32_t n_mel, n_ceps, n_warps;
  const float *window;           /* [window_samples] */
  const asr_mel_band *mel_bands; /* [n_warps][n_mel] */
  const float *mel_weights;
  const float *dct; /* [n_ceps][n_mel], scaling and lifter included */
  float preemphasis;
  uint32_t preemphasis_in_frame; /* the sample before a frame's first is: 0 the real one, 1 that first sample itself */
  asr_dc_removal dc_removal;     /* subtracts the mean of the frame's window_samples */
  uint32_t magnitude;            /* spectrum: 0 power |X|^2, 1 magnitude |X| */
  float log_add, log_floor;      /* ln(max(E, log_floor) + log_add) */
  int32_t energy_row;            /* this cepstrum is replaced by the log energy ln(max(sum x^2, log_floor)); -1 = none */
  uint32_t energy_windowed;      /* energy of the frame: 0 after dc removal, before pre-emphasis; 1 after the window */
  float dither;                  /* 0 = none, else noise of this deviation made from (dither_seed, frame, sample) */
  uint32_t dither_seed;
  const asr_dynamics_view *dynamics; /* what `step` makes rows with; NULL: not described */
} asr_features_view;

typedef struct asr_extract_job {
  const float *samples; /* frame t starts at samples[t * shift_samples]; samples[-1] is readable and is the sample before */
  uint64_t first_frame; /* number of frame 0 in its utterance */
  uint32_t n_frames;
  uint32_t warp;  /* which filter bank, < n_warps */
  float *cepstra; /* out [n_frames][n_ceps] */
} asr_extract_job;

/* ---- acoustic model: 000_..., 001_... (GMM likelihoods); equations G1-G4 in docs/equations.md ---------------------- */

typedef enum asr_covariance { ASR_COVARIANCE_DIAGONAL = 0, ASR_COVARIANCE_FULL = 1 } asr_covariance;

/* A feature stream: the n_dims features dims[0 ... n_dims - 1] of a row. */
typedef struct asr_gmm_stream {
  uint32_t n_dims;
  const uint32_t *dims;
} asr_gmm_stream;

/* A set of Gaussians of one stream, used by one state or shared by many. Mean k: means[first_mean + k * d ...], d the
 * stream's n_dims. Precision (inverse covariance) of Gaussian k: number covariance_of[first_gaussian + k] of the model, at
 * precisions[precision_at[number] ...]: d values for diagonal, the lower triangle by rows (d * (d + 1) / 2) for full. */
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

/* One model's part of a score_models; what `score` takes. */
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

/* Arcs of state s: emitting ones arcs[emitting_begin[s] .. emitting_begin[s+1]), epsilon ones arcs[epsilon_begin[s] ..
 * epsilon_begin[s+1]). All emitting arcs come before all epsilon arcs; an arc's place in `arcs` is its index in ties. */
typedef struct asr_graph_view {
  size_t size;
  uint32_t n_states, start_state, n_transition_ids, n_pdfs;
  uint64_t n_arcs;
  const uint32_t *emitting_begin; /* [n_states + 1] */
  const uint32_t *epsilon_begin;  /* [n_states + 1] */
  const asr_graph_arc *arcs;      /* [n_arcs] */
  const float *final_costs;       /* [n_states], +inf = not final */
  const uint32_t *pdf_of;         /* [n_transition_ids + 1]: column of the log-likelihoods; [0] unused */
  uint32_t *arrays_in_use; /* since 0.2.0, may be NULL: load_graph sets it to 0 if it has copied all, for the arrays to go */
} asr_graph_view;

/* A graph as graph.bin stores it, defined in core/graph/packed/packed_graph.h: of the library's own, it may change. */
typedef struct asr_packed_graph asr_packed_graph;

typedef struct asr_search_options {
  size_t size;
  float beam, lattice_beam, acoustic_scale, word_insertion_cost; /* lattice_beam 0: best path only */
  uint32_t max_active, min_active;
} asr_search_options;

/* One channel's part of an advance: n_frames rows of log-likelihoods, from row first_row of a score buffer, or from the
 * host's rows [n_frames][n_pdfs] if loglikes is not NULL (readable until wait). */
typedef struct asr_advance_job {
  asr_backend_channel *channel;
  const float *loglikes;
  uint32_t buffer, first_row, n_frames;
  uint32_t wants; /* asr_advance_wants, or 0 */
} asr_advance_job;

/* Results that are asked of the channel once this advance is done and before its next one is. A back end may make them in the
 * same work; best_path, best_paths, lattice and lattices then give them as they are after this advance. A job that wants
 * something may have no frames; where its rows would be is not looked at then. */
typedef enum asr_advance_wants {
  ASR_WANTS_PATH = 1,
  ASR_WANTS_LATTICE = 2,
  ASR_WANTS_FINAL = 4 /* with use_final */
} asr_advance_wants;

/* One arc of a path. Epsilon arcs without a word are left out. */
typedef struct asr_path_arc {
  uint32_t frame;         /* frames consumed before the arc */
  uint32_t transition_id; /* 0 for epsilon arcs */
  uint32_t word;
  float graph_cost;    /* word_insertion_cost not included */
  float acoustic_cost; /* -loglike, unscaled; 0 for epsilon arcs */
} asr_path_arc;

typedef struct asr_path {
  const asr_path_arc *arcs; /* the channel's, until the next call for the channel */
  uint64_t n_arcs;
  uint32_t n_frames;      /* frames advanced so far */
  uint32_t reached_final; /* 1: ends in a final state, final_cost included in total_cost */
  uint32_t beam_died;     /* 1: no token survived; the path is the best one up to there */
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

/* The tokens and arcs that "The lattice" in docs/search.md leaves. States are sorted: by frame, then every arc leads to a
 * state of a higher number; state 0 is the start. Arcs of state s: arcs[arc_begin[s] .. arc_begin[s + 1]). */
typedef struct asr_raw_lattice {
  uint32_t n_states, n_frames; /* n_frames: advanced so far */
  uint64_t n_arcs;
  const uint64_t *arc_begin; /* [n_states + 1]; all arrays are the channel's, until the next call for the channel */
  const asr_raw_arc *arcs;   /* [n_arcs] */
  const uint32_t *frames;    /* [n_states]: frames consumed before the state */
  const float *final_costs;  /* [n_states], +inf = no path ends there */
  uint32_t reached_final;    /* as in asr_path */
  uint32_t beam_died;
} asr_raw_lattice;

/* What a back end has of a device's own memory, by purpose; what is left of the total is buffers for work under way. */
typedef struct asr_backend_memory {
  size_t size;
  uint64_t total_bytes;
  uint64_t graph_bytes, acoustic_bytes, features_bytes;
  uint64_t lane_bytes;    /* working memory of the search, of n_lanes channels at a time */
  uint64_t channel_bytes; /* of n_channels that have begun, or ended and left their memory to the next */
  uint32_t n_lanes, n_channels;
} asr_backend_memory;

/* ---- the fused step ------------------------------------------------------------------------------------------------- */

typedef struct asr_signal_options {
  size_t size;
  uint32_t warp;           /* which filter bank, < n_warps */
  uint32_t normalise_live; /* 0: cepstra are not normalised */
} asr_signal_options;

/* One utterance's part of a step: n_frames more frames of its signal, then the next n_rows rows of it, into rows first_row ...
 * of the score buffer; the rows of a job follow those of the job before, from row 0 on. No more rows are made than frames are
 * there less `lookahead`, or, once the signal has ended, than frames. Frames of which no row is made when a step begins, its
 * own included, are at most 2 * window_frames + lookahead. */
typedef struct asr_step_job {
  asr_backend_signal *signal; /* NULL: n_rows rows of the host */
  const float *samples;       /* as in asr_extract_job; n_frames may be 0 */
  uint32_t n_frames;
  uint32_t ends;     /* 1: the signal has no frames after these */
  const float *rows; /* [n_rows][n_dims] where signal is NULL */
  uint32_t first_row, n_rows;
} asr_step_job;

/* ---- the table ----------------------------------------------------------------------------------------------------- */

typedef struct asr_backend_api {
  uint32_t abi; /* ASR_BACKEND_ABI */
  size_t size;
  const char *name; /* "cuda": device ids are name:index */

  /* Lists devices: writes up to `capacity` infos (their size is set by the core) and the number there are. None is not an
   * error: *n_devices = 0 and last_error() says why ("no NVIDIA driver"). Must be quick and must leave nothing behind. */
  asr_status (*probe)(asr_backend_device_info *infos, size_t capacity, size_t *n_devices);
  asr_status (*open)(uint32_t index, const asr_backend_options *options, asr_backend_device **device);
  void (*close)(asr_backend_device *device); /* after everything loaded and begun on it was freed */
  const char *(*last_error)(void);           /* of the calling thread; until its next call */

  /* Loads copy or repack what they are given, except that the arrays of a graph view stay readable and unchanged until
   * free_graph, or until load_graph returns where it set *view->arrays_in_use to 0. */
  asr_status (*load_features)(asr_backend_device *, const asr_features_view *, asr_backend_features **);
  void (*free_features)(asr_backend_features *);
  asr_status (*load_acoustic)(asr_backend_device *, const asr_acoustic_view *, asr_backend_acoustic **);
  void (*free_acoustic)(asr_backend_acoustic *);
  asr_status (*load_graph)(asr_backend_device *, const asr_graph_view *, asr_backend_graph **);
  void (*free_graph)(asr_backend_graph *);

  /* Samples to cepstra, for many utterances; complete on return. */
  asr_status (*extract)(asr_backend_device *, asr_backend_features *, const asr_extract_job *jobs, size_t n_jobs);

  /* [async] features[n_rows][n_dims] -> log-likelihoods of all states, into score buffer 0 or 1 of the model (at most
   * max_lanes * window_frames rows) and also to loglikes[n_rows][n_states] unless that is NULL. features and loglikes
   * belong to the slot until wait. While one buffer is scored an advance may read the other. */
  asr_status (*score)(asr_backend_device *, asr_backend_acoustic *, const float *features, uint32_t n_rows, uint32_t buffer,
                      float *loglikes);

  /* A channel begins at the graph's start state with its epsilon arcs followed; channel_end frees it. */
  asr_status (*channel_begin)(asr_backend_device *, asr_backend_graph *, const asr_search_options *, asr_backend_channel **);
  void (*channel_end)(asr_backend_channel *);

  /* [async] Advances every channel (each at most once in a call; of any graphs) over its frames. `acoustic` is the model whose
   * score buffers the jobs name; NULL if every job has host rows. A channel whose beam died stays so and skips its frames. */
  asr_status (*advance)(asr_backend_device *, asr_backend_acoustic *, const asr_advance_job *jobs, size_t n_jobs);

  /* The best path of what was advanced so far (waits for it). use_final != 0: if any token is in a final state, the best
   * by cost plus final cost among those; otherwise and else: the best token. Ties: lower state number. */
  asr_status (*best_path)(asr_backend_device *, asr_backend_channel *, uint32_t use_final, asr_path *path);

  /* Until all async work of the device is done; its failures are reported here. */
  asr_status (*wait)(asr_backend_device *);

  /* The lattice of what was advanced so far (waits for it), of a channel whose lattice_beam is above 0. use_final as in
   * best_path. ASR_UNSUPPORTED if the graph has a cycle of epsilon arcs. NULL in back ends that make no lattices. */
  asr_status (*lattice)(asr_backend_device *, asr_backend_channel *, uint32_t use_final, asr_raw_lattice *lattice);

  /* Seconds that the device's kernels ran, copies not counted, since the last call; the first call begins to measure. For
   * benchmarks; all work must be done. NULL in back ends that have no kernels of their own. */
  asr_status (*kernel_seconds)(asr_backend_device *, double *seconds);

  /* The next piece of the lattice that is settled ("Pieces" in docs/search.md), of a channel as for `lattice`; n_states = 0 if
   * there is none yet. It leaves the channel: the next piece, and what `lattice` gives from then on, begin with the states that
   * end it. final_costs of these are their extra costs. Between advances. NULL in back ends that make no pieces. */
  asr_status (*lattice_piece)(asr_backend_device *, asr_backend_channel *, asr_raw_lattice *piece);

  /* Calls that read a channel may be made again for it, alone, after one for many channels has failed. A channel that such a
   * call left half changed, for want of memory, fails every later one, too.
   *
   * `lattice` of many channels, each at most once, into lattices[n_channels]. NULL in back ends for which that is no faster. */
  asr_status (*lattices)(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                         asr_raw_lattice *lattices);

  /* Measures in which of several ways the device scores models like this one fastest, and keeps the choice in the user's cache
   * for every model that is loaded from then on. *report, a line for each way, is the device's until its next call. For
   * benchmarks; all work must be done. NULL in back ends that have one way only. */
  asr_status (*tune)(asr_backend_device *, const asr_acoustic_view *, const char **report);

  /* Fills *memory for the present. NULL in back ends without memory of their own. */
  asr_status (*memory)(asr_backend_device *, asr_backend_memory *memory);

  /* `best_path` of many channels, each at most once, into paths[n_channels]. NULL in back ends for which that is no faster. */
  asr_status (*best_paths)(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t use_final,
                           asr_path *paths);

  /* The signal of an utterance; signal_end frees it. ASR_UNSUPPORTED, whatever the options, where the device cannot make rows
   * of these features: then `step` is not for them. These three slots are NULL in back ends that share the host's memory. */
  asr_status (*signal_begin)(asr_backend_device *, asr_backend_features *, const asr_signal_options *, asr_backend_signal **);
  void (*signal_end)(asr_backend_signal *);

  /* [async] `extract`, dynamics and `score` in one, for many signals, each at most once: samples -> log-likelihoods of the rows
   * in a score buffer, for advance; nothing comes to the host. After a failure the signals of the call can only be ended. */
  asr_status (*step)(asr_backend_device *, asr_backend_features *, asr_backend_acoustic *, const asr_step_job *jobs,
                     size_t n_jobs, uint32_t buffer);

  /* [async] `score` of many models, each at most once, which may differ in everything; the same bits. NULL in back ends for
   * which that is no faster. */
  asr_status (*score_models)(asr_backend_device *, const asr_score_job *jobs, size_t n_jobs);

  /* Tells what became of a channel in the advances that are done: ASR_OK, or why it consumes nothing any more, which is told
   * here each time. Waits for nothing. A failure that is a channel's own (no memory for it, a negative cycle) is its outcome,
   * and other channels of the same advance go on; wait() may report it, too. NULL: a failure is that of all channels. */
  asr_status (*outcome)(asr_backend_device *, asr_backend_channel *);

  /* Waits until at most n_left advances are under way. In back ends with this slot two are under way at a time: `advance` waits
   * for the advance before the last, and for the last only if it has a channel in common. So the core reads results of one, and
   * gathers the next, while the device works on the other. `lattice` of a channel that is in no advance under way, and
   * whose last job wanted it, may be called on any thread, beside other slots and for different channels at once; so may
   * lattice_piece, at any time from a channel's begin to its end. Neither waits for an advance then, nor does best_path where
   * the job wanted it. Failures are told by `outcome`. NULL in back ends that work on one advance at a time. */
  asr_status (*finish_advances)(asr_backend_device *, uint32_t n_left);

  /* `load_graph` of a graph that the back end reads where it is: it stays readable and unchanged until free_graph. For the back
   * end inside the library. NULL in all others, for which the core unpacks the arrays. */
  asr_status (*load_packed_graph)(asr_backend_device *, const asr_packed_graph *, asr_backend_graph **);

  /* How many of the first arcs of best_path lie on the path of every token ("The common path" in docs/search.md), so that every
   * later path begins with them. Of a channel in no advance under way; leaves what best_path gave valid. NULL in back ends that
   * cannot tell. */
  asr_status (*common_path)(asr_backend_device *, asr_backend_channel *, uint64_t *n_arcs);
} asr_backend_api;

/* The one exported function. host_abi is the core's ASR_BACKEND_ABI; a plugin that cannot serve it returns NULL. The table
 * is static. Called once for each load of the plugin. */
typedef const asr_backend_api *(*asr_backend_entry_fn)(uint32_t host_abi, const asr_host_api *host);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_H */
