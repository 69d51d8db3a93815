/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend.h - the contract of a back end: one C table that a plugin exports and the core calls.
 *
 * A back end computes, and knows no API handle, file format or word string; the core knows no vendor. Inputs are the plain
 * arrays of the *_view structs, so that the conventions of HTK, Kaldi and Sphinx never reach a back end. docs/backend.md
 * explains how to write one, and samples/backend is one. The other headers asr_backend_*.h are extensions, which a back end
 * may leave out.
 *
 * PLUGINS
 *   A plugin is a file libsenone_NAME.so that exports asr_backend_entry and no other symbol. It must load on machines without
 *   its hardware, because probe is what reports that the hardware is missing. It must not crash, throw, print, exit or touch
 *   signals.
 *
 * CALLS
 *   Slots return ASR_OK or a negative asr_status. After a failure last_error() has a message for the calling thread. One thread
 *   at a time calls the slots of a device (ASR_BACKEND_OVERLAPS has exceptions); devices are independent of each other.
 *
 *   A slot marked [async] may return before its work is done, and its outputs are valid after wait(). Results must be as if
 *   calls were carried out in order. Pointers are read during the call only, unless "until" says otherwise, and are never NULL
 *   unless the comment says so.
 *
 * PARTIAL BACK ENDS
 *   A back end has to score; the front end and the search are optional, each as a whole: the slots of a part marked "(optional:
 *   front end)" or "(optional: search)" are all set or all NULL. Where they are NULL the CPU does that part. The user may name
 *   another device for the search (asr_engine_config.search_device). Log-likelihoods then pass through the memory of the host:
 *   every asr_score_job has `loglikes`. The extensions "signals" and "fusion" serve a search on the same device, so they are
 *   not used without one, and "signals" not without a front end.
 *
 * VERSIONS
 *   The table and most structs begin with their size and only grow at the end, so the size says which members exist. `abi`
 *   changes when that is not enough, and the core refuses a table of another abi.
 */
#ifndef SENONE_ASR_BACKEND_H
#define SENONE_ASR_BACKEND_H
#include "asr.h"
#ifdef __cplusplus
extern "C" {
#endif
#define ASR_BACKEND_ABI 2u
#define ASR_BACKEND_ENTRY_NAME "asr_backend_entry"

typedef struct asr_backend_device asr_backend_device;     /* one opened device */
typedef struct asr_backend_features asr_backend_features; /* a loaded front end */
typedef struct asr_backend_acoustic asr_backend_acoustic; /* a loaded acoustic model and its two score buffers */
typedef struct asr_backend_graph asr_backend_graph;       /* a loaded graph */
typedef struct asr_backend_channel asr_backend_channel;   /* the search state of one utterance */
typedef struct asr_dynamics_view asr_dynamics_view;       /* defined in asr_backend_signals.h */
typedef struct asr_packed_graph asr_packed_graph;         /* graph.bin in memory; internal to the library, it may change */

typedef struct asr_host_api { /* functions of the core; valid until the process ends */
  size_t size;
  void (*log)(asr_log_level level, const char *message); /* any thread */
  /* During `probe`: 1 if the user has named this back end (asr_engine_config.device, SENONE_DEVICE, SENONE_PLUGINS); 0 if the
   * core only looks for devices. In the latter case a back end without its hardware must load no driver, because drivers change
   * the process. */
  uint32_t (*is_named)(void);
} asr_host_api;

/* Capabilities of a device. The core uses a feature only if the device has set its bit. A device that sets the bit of a part
 * whose slots are NULL is refused. */
typedef enum asr_backend_capability {
  ASR_BACKEND_LATTICES = 1,     /* channels with a lattice_beam; the slot `lattices` is set */
  ASR_BACKEND_PIECES = 2,       /* ASR_WANTS_PIECE of `lattices` */
  ASR_BACKEND_COMMON_PATH = 4,  /* ASR_WANTS_COMMON */
  ASR_BACKEND_PACKED_GRAPH = 8, /* asr_graph_view.packed is read in place; only the back end inside the library */
  /* Two advances may run at a time, so that one is searched while the next is prepared: `advance` waits for the last but one,
   * and for the last only if they share a channel. `lattices` may then run on any thread, beside other slots and for different
   * channels at once: pieces at any time, and whole lattices that the last job wanted, of channels in no running advance.
   * Neither it nor best_paths waits for an advance in these cases, nor does best_paths with ASR_WANTS_PIECE, which may come
   * while an advance of the channel runs: it gives what had settled in finished advances. */
  ASR_BACKEND_OVERLAPS = 16,
  ASR_BACKEND_PLP = 32,         /* asr_features_view.lpc_order */
  ASR_BACKEND_SELECTION = 64,   /* asr_backend_options.n_best_gaussians */
  ASR_BACKEND_CLUSTERS = 128,   /* asr_backend_options.cluster_share */
  ASR_BACKEND_PATH_PIECES = 256, /* ASR_WANTS_PIECE of `best_paths` */
  ASR_BACKEND_LEAVES = 512       /* ASR_MAY_LEAVE; the slot `left` is set */
} asr_backend_capability;

typedef struct asr_backend_device_info {
  size_t size;
  char name[128];                 /* the device's name in the driver */
  uint64_t memory_bytes;          /* 0 if unknown */
  int32_t score;                  /* > 0; the core takes the highest. CPU 10; GPUs 100 and more */
  uint32_t n_cores, capabilities; /* capabilities: asr_backend_capability */
} asr_backend_device_info;

typedef struct asr_backend_options {
  size_t size;
  uint32_t max_lanes, window_frames; /* maximum number of channels in one advance, and of frames of one of them */
  uint32_t n_threads;                /* host threads that the back end may compute with; 0 = one per core */
  uint32_t model_bits; /* 16: models may be kept in halves, beyond the tolerance of docs/equations.md, G. 0 or 32: not */
  uint32_t initial_capacity_shift, cluster_blocks; /* 0 except in tests (asr_backend_bench.h); may be ignored */
  uint32_t timeout_ms;        /* limit of device work; 0: none. Beyond it all slots return ASR_DEVICE_LOST, and freeing leaks */
  uint32_t n_best_gaussians;  /* Gaussians of a shared codebook that a frame mixes (G10); 0: all */
  float cluster_share;        /* share of the clusters of states with own codebooks that a frame scores (G11); 0 or 1: all */
  uint64_t most_memory_bytes; /* 0 except in tests (asr_backend_bench.h); may be ignored */
} asr_backend_options;

/* ---- front end: MFCC (Kou et al. 2013), PLP; equations F1-F8, F11 in docs/equations.md ---------------------------- */

typedef struct asr_mel_band {               /* a triangle that weights spectrum bins first_bin ... first_bin + n_bins - 1 */
  uint32_t first_bin, n_bins, first_weight; /* first_weight: index into mel_weights. Bins are below fft_samples / 2 */
} asr_mel_band;

typedef enum asr_dc_removal { ASR_DC_KEEP = 0, ASR_DC_BEFORE_PREEMPHASIS = 1, ASR_DC_AFTER_PREEMPHASIS = 2 } asr_dc_removal;

/* Front end, in order: [dither] -> [dc] -> [raw energy] -> y[n] = x[n] - preemphasis * x[n-1] -> [dc] -> window -> [windowed
 * energy] -> FFT of fft_samples (zero-padded) -> spectrum -> mel -> log -> dct. Samples have the scale of 16-bit integers. */
typedef struct asr_features_view {
  size_t size;
  uint32_t window_samples, shift_samples, fft_samples; /* fft_samples: a power of two, 64..8192, >= window_samples */
  uint32_t n_mel, n_ceps, n_warps;
  const float *window;            /* [window_samples] */
  const asr_mel_band *mel_bands;  /* [n_warps][n_mel] */
  const float *mel_weights, *dct; /* dct: [n_ceps][n_mel], scaling and lifter included */
  float preemphasis;
  uint32_t preemphasis_in_frame; /* predecessor of a frame's first sample: 0 the preceding sample, 1 the first sample itself */
  asr_dc_removal dc_removal;     /* subtracts the mean of the frame's window_samples */
  uint32_t magnitude;            /* spectrum: 0 power |X|^2, 1 magnitude |X| */
  float log_add, log_floor;      /* ln(max(E, log_floor) + log_add) */
  int32_t energy_row;            /* cepstrum replaced by the log energy ln(max(sum x^2, log_floor)); -1 = none */
  uint32_t energy_windowed;      /* the energy is taken: 0 after dc removal, before pre-emphasis; 1 after the window */
  float dither;                  /* 0 = none, else standard deviation of noise made from (dither_seed, frame, sample) */
  uint32_t dither_seed;
  const asr_dynamics_view *dynamics; /* for signals (asr_backend_signals.h); NULL if there are none */
  /* If lpc_order > 0 the cepstra are PLP and not MFCC (F11). Band m counts exp(compression * log energy + loudness[m]). `dct`
   * is then [n_ceps][lpc_order + 1] and multiplies the cepstra of linear prediction, whose c0 is at least log_gain_floor. */
  uint32_t lpc_order;
  float compression, log_gain_floor;
  const float *loudness, *autocorrelation;   /* [n_warps][n_mel]; [lpc_order + 1][n_mel] */
  const struct asr_mel_triangles *triangles; /* asr_backend_banks.h; NULL unless frames are wanted under many banks */
} asr_features_view;

typedef struct asr_extract_job {
  const float *samples;    /* frame t starts at samples[t * shift_samples]; samples[-1] holds the preceding sample */
  uint64_t first_frame;    /* number of frame 0 in its utterance */
  uint32_t n_frames, warp; /* warp: index of the filter bank, < n_warps */
  float *cepstra;          /* out [n_frames][n_ceps] */
} asr_extract_job;

/* ---- acoustic model: Vanek et al. 2012a, 2012b (docs/figures.md); equations G1-G4 in docs/equations.md ------------- */

typedef enum asr_covariance { ASR_COVARIANCE_DIAGONAL = 0, ASR_COVARIANCE_FULL = 1 } asr_covariance;

typedef struct asr_gmm_stream { /* selects the features dims[0 ... n_dims - 1] of a row */
  uint32_t n_dims;
  const uint32_t *dims;
} asr_gmm_stream;

/* A codebook is a set of Gaussians of one stream of d dimensions, for one state or many. Mean k begins at
 * means[first_mean + k * d]. Precision (inverse covariance) of Gaussian k has number covariance_of[first_gaussian + k] and
 * begins at precisions[precision_at[number]]: d values if diagonal, else the lower triangle by rows (d * (d + 1) / 2). */
typedef struct asr_gmm_codebook {
  uint32_t stream, n_gaussians;
  uint64_t first_gaussian, first_mean; /* first_gaussian: counted over all codebooks */
} asr_gmm_codebook;

/* The states are those of the acoustic model, which Kaldi calls pdfs and Sphinx senones; a graph has states of its own.
 * loglike[t][s] = sum over streams j of ln sum_k exp(log_weight[k]) N(x_j; mean_k, covariance_k), where k runs over
 * codebook state_codebook[s][j] and its log weights begin at log_weights[state_weight[s][j]]. -inf weights are allowed. */
typedef struct asr_acoustic_view {
  size_t size;
  asr_covariance covariance;
  uint32_t n_dims, n_states, n_streams, n_codebooks, n_covariances;
  uint64_t n_gaussians;
  const asr_gmm_stream *streams;     /* [n_streams] */
  const asr_gmm_codebook *codebooks; /* [n_codebooks] */
  const float *means, *precisions, *log_weights;
  const uint32_t *covariance_of;  /* [n_gaussians] */
  const uint64_t *precision_at;   /* [n_covariances] */
  const uint32_t *state_codebook; /* [n_states][n_streams] */
  const uint64_t *state_weight;   /* [n_states][n_streams] */
} asr_acoustic_view;

typedef struct asr_score_job {    /* rows that one model scores for all of its states */
  asr_backend_acoustic *acoustic; /* each at most once in a call */
  const float *features;          /* [n_rows][n_dims], until wait */
  uint32_t n_rows, buffer;        /* at most max_lanes * window_frames, into score buffer 0 or 1 of the model */
  float *loglikes;                /* out [n_rows][n_states], until wait; NULL: the host does not want them */
} asr_score_job;

/* ---- graph and search: Chen et al. 2018; "The search, defined" in docs/search.md ----------------------------------- */

typedef struct asr_graph_arc {
  uint32_t next_state, transition_id; /* transition_id: 1..n_transition_ids for emitting arcs, 0 for epsilon arcs */
  uint32_t word;                      /* 0 = none */
  float graph_cost;                   /* -ln; finite */
} asr_graph_arc;

/* State s has the emitting arcs arcs[emitting_begin[s] .. emitting_begin[s+1]) and the epsilon arcs arcs[epsilon_begin[s] ..
 * epsilon_begin[s+1]). All emitting arcs precede all epsilon arcs; an arc's index in `arcs` breaks ties. */
typedef struct asr_graph_view {
  size_t size;
  uint32_t n_states, start_state, n_transition_ids, n_pdfs;
  uint64_t n_arcs;
  const uint32_t *emitting_begin, *epsilon_begin; /* [n_states + 1] */
  const asr_graph_arc *arcs;                      /* [n_arcs] */
  const float *final_costs;                       /* [n_states], +inf = not final */
  const uint32_t *pdf_of;                         /* [n_transition_ids + 1]: column of the log-likelihoods; [0] unused */
  const asr_packed_graph *packed; /* with ASR_BACKEND_PACKED_GRAPH, may replace the arrays above, which are then NULL */
} asr_graph_view;

typedef struct asr_search_options {
  size_t size;
  float beam, lattice_beam, acoustic_scale, word_insertion_cost; /* lattice_beam 0: best path only */
  uint32_t max_active, min_active;
} asr_search_options;

/* Results of a channel. An asr_advance_job names those that the core will ask for before the channel's next advance, except
 * PIECE, so that a device can make them in the same launch. */
typedef enum asr_search_wants {
  ASR_WANTS_PATH = 1,
  ASR_WANTS_LATTICE = 2,
  ASR_WANTS_FINAL = 4,  /* paths end in final states, if a token is in one */
  ASR_WANTS_COMMON = 8, /* asr_path.n_common_arcs too */
  ASR_WANTS_PIECE = 16, /* the next piece of a lattice or path */
  /* No result, and only alone: the advance may end, once many of its channels have taken their frames, before this one has. The
   * device keeps the rows of the frames that are left (`left`), and the channel's next advance begins with them. So channels
   * whose frames are costly do not keep the others waiting. */
  ASR_MAY_LEAVE = 32
} asr_search_wants;

typedef struct asr_advance_job { /* n_frames rows of a channel's log-likelihoods, from row first_row of a score buffer on */
  asr_backend_channel *channel;  /* each at most once in a call; graphs may differ */
  const float *loglikes;         /* [n_frames][n_pdfs], until wait: the rows come from the host; else NULL */
  uint32_t buffer, first_row, n_frames; /* n_frames may be 0 if a result is wanted */
  uint32_t wants;                       /* asr_search_wants, or 0 */
} asr_advance_job;

typedef struct asr_path_arc {          /* epsilon arcs without a word are omitted */
  uint32_t frame, transition_id, word; /* frames consumed before the arc; 0 for epsilon arcs; 0 = none */
  float graph_cost, acoustic_cost;     /* without word_insertion_cost; -loglike, unscaled, 0 for epsilon arcs */
} asr_path_arc;

typedef struct asr_path {
  const asr_path_arc *arcs; /* owned by the channel, valid until the next call for the channel */
  uint64_t n_arcs;
  uint32_t n_frames, reached_final; /* frames advanced so far; 1: ends in a final state, final_cost is in total_cost */
  uint32_t beam_died;               /* 1: no token survived; the path is the best one up to that frame */
  float final_cost;
  double total_cost; /* sum of graph_cost + acoustic_scale * acoustic_cost + word insertion costs + final_cost */
  uint64_t n_tokens, n_arcs_expanded; /* summed over frames, for benchmarks */
  uint64_t n_common_arcs;             /* first arcs, which every later path begins with ("The common path" in docs/search.md) */
} asr_path;

typedef struct asr_raw_arc { /* an arc of a lattice; as in asr_path_arc */
  uint32_t next_state, transition_id, word;
  float graph_cost, acoustic_cost;
} asr_raw_arc;

/* The tokens and arcs that remain after the pruning in docs/search.md, "The lattice"; valid until the channel's next call.
 * States are sorted by frame, every arc leads to a higher number, and 0 is the start. State s has the arcs
 * arcs[arc_begin[s] .. arc_begin[s + 1]). */
typedef struct asr_raw_lattice {
  uint32_t n_states, n_frames; /* n_frames: frames advanced so far */
  uint64_t n_arcs;
  const uint64_t *arc_begin; /* [n_states + 1] */
  const asr_raw_arc *arcs;   /* [n_arcs] */
  const uint32_t *frames;    /* [n_states]: frames consumed before the state */
  const float *final_costs;  /* [n_states], +inf = no path ends there; of a piece: extra costs of the states that end it */
  uint32_t reached_final, beam_died; /* as in asr_path */
} asr_raw_lattice;

typedef struct asr_backend_api {
  uint32_t abi; /* ASR_BACKEND_ABI */
  size_t size;
  const char *name; /* "cuda": device ids are name:index */

  /* (required, as all slots up to last_error) Lists devices: writes up to `capacity` infos, whose size the core has set, and
   * the number of devices. Having no device is not an error: *n_devices is 0, and last_error() has the reason ("no NVIDIA
   * driver"). Must be quick and leave nothing behind, because it runs in programs that never use the back end. */
  asr_status (*probe)(asr_backend_device_info *infos, size_t capacity, size_t *n_devices);
  asr_status (*open)(uint32_t index, const asr_backend_options *options, asr_backend_device **device);
  void (*close)(asr_backend_device *device); /* NULL is ignored. The core has freed all that was loaded and begun on it */
  const char *(*last_error)(void);           /* error of the calling thread; valid until its next call */

  /* Load slots copy their arguments, except that the arrays of a graph may be used in place. These stay readable and unchanged
   * until free_graph, unless load_graph sets *in_use (1 before the call) to 0, which lets the core free them. Slots that free
   * ignore NULL. */

  /* (optional: front end) */
  asr_status (*load_features)(asr_backend_device *, const asr_features_view *, asr_backend_features **);
  void (*free_features)(asr_backend_features *);
  /* (required) */
  asr_status (*load_acoustic)(asr_backend_device *, const asr_acoustic_view *, asr_backend_acoustic **);
  void (*free_acoustic)(asr_backend_acoustic *);
  /* (optional: search) */
  asr_status (*load_graph)(asr_backend_device *, const asr_graph_view *, asr_backend_graph **, uint32_t *in_use);
  void (*free_graph)(asr_backend_graph *);

  /* (optional: front end) Turns samples into cepstra, for many utterances. The work is complete on return. */
  asr_status (*extract)(asr_backend_device *, asr_backend_features *, const asr_extract_job *jobs, size_t n_jobs);

  /* (required) [async] Scores rows of many models. An advance may read one buffer of a model while this writes the other. */
  asr_status (*score)(asr_backend_device *, const asr_score_job *jobs, size_t n_jobs);

  /* (optional: search) Begins a channel at the graph's start state and follows the epsilon arcs from there. channel_end frees
   * it. */
  asr_status (*channel_begin)(asr_backend_device *, asr_backend_graph *, const asr_search_options *, asr_backend_channel **);
  void (*channel_end)(asr_backend_channel *);

  /* (optional: search) [async] Advances every channel over its frames. `acoustic` is the model whose score buffers the jobs
   * name; NULL if every job has rows from the host or no frames. A channel that has no token left stays so, and skips its
   * frames. */
  asr_status (*advance)(asr_backend_device *, asr_backend_acoustic *, const asr_advance_job *jobs, size_t n_jobs);

  /* (optional: search) Returns the best paths of channels, each at most once, after the frames so far, for which it waits. A
   * path ends in the token with the least cost. With ASR_WANTS_FINAL, if a token is in a final state, only such tokens count,
   * by cost plus final cost. Among equal ones the lower state number wins. After a failure the core asks each channel alone; a
   * channel that was left half changed has to fail ever after.
   *
   * With ASR_WANTS_PIECE alone, which comes between advances (but see ASR_BACKEND_OVERLAPS), `arcs` are some first arcs that
   * every later path begins with, and no other member is set. The channel then forgets these arcs: later paths list only those
   * after them, although total_cost is of the whole path. The back end chooses how many they are, but a channel must not keep
   * an hour of them. */
  asr_status (*best_paths)(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                           asr_path *paths);

  /* (optional, also with the search: NULL without ASR_BACKEND_LATTICES)
   * Returns the lattices of channels after the frames so far, for which it waits; n_channels and ASR_WANTS_FINAL are as above.
   * ASR_UNSUPPORTED if the graph has a cycle of epsilon arcs. With ASR_WANTS_PIECE, which comes between advances, it returns
   * the next settled piece ("Pieces" in docs/search.md), or n_states = 0 if none is settled. The channel then forgets the
   * piece: later pieces and lattices begin with the states that end it. */
  asr_status (*lattices)(asr_backend_device *, asr_backend_channel *const *channels, size_t n_channels, uint32_t wants,
                         asr_raw_lattice *lattices);

  /* (optional: search) Reports, without waiting, how a channel fared in the finished advances: ASR_OK, or the reason why it
   * consumes no more frames, which is repeated on every call. Other channels of an advance go on. */
  asr_status (*outcome)(asr_backend_device *, asr_backend_channel *);

  /* (required) Waits until at most n_left advances are running (0 without ASR_BACKEND_OVERLAPS) and, if n_left is 0, until all
   * other async work is done. Reports a failure of that work, but none that is the outcome of a channel, because the channel may
   * have ended meanwhile. The outputs of other work are valid even so. */
  asr_status (*wait)(asr_backend_device *, uint32_t n_left);

  /* (required) Returns the table of an extension by the name that its header defines; NULL if the back end does not have it. */
  const void *(*extension)(const char *name);

  /* (optional: with ASR_BACKEND_LEAVES) Returns, without waiting, how many frames of a channel the finished advances have left.
   * With the next advance's frames they are to be at most window_frames; if they are more, that advance leaves none. */
  uint32_t (*left)(asr_backend_device *, asr_backend_channel *);
} asr_backend_api;

/* The only function that a plugin exports. Returns a static table, or NULL if it cannot serve the core's ASR_BACKEND_ABI. */
typedef const asr_backend_api *(*asr_backend_entry_fn)(uint32_t host_abi, const asr_host_api *host);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_H */
