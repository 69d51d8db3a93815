/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr.h - the Senone speech recogniser: its only public header, and its manual.
 *
 * LIFE CYCLE
 *   An engine is a model and its graphs on one device. A stream is one source of audio. Many streams share one engine.
 *
 *     asr_engine *engine;                                    asr_stream *stream;
 *     asr_engine_load("bundle", NULL, &engine);              asr_open(engine, NULL, &stream);
 *     asr_feed(stream, samples, n); ... asr_finish(stream);  asr_wait(stream, -1); asr_result(stream, &event);
 *     asr_close(stream);                                     asr_engine_close(engine);
 *
 *   A stream's life is: open, feed*, finish, events until ASR_EVENT_END, close. Before END, asr_reset begins it again.
 *   Closing an engine with open streams is safe: the engine is reference-counted and freed with its last stream.
 *
 * EVENTS
 *   A stream reports its results as events, in this order:
 *     READY, { SPEECH_START, PARTIAL*, ENDPOINT, FINAL }*, END
 *   and, with an early_endpoint_ms, PROBABLY_FINISHED and SPEECH_RESUMED in turn among the PARTIALs.
 *   An ERROR event may replace any of them; END follows it. Events are polled with asr_result or passed to a callback;
 *   both give the same objects with the same contents. Unknown kinds must be ignored: later versions add some.
 *   The next PARTIAL replaces one that has not been read, also one that waits for the callback. So unread events do not
 *   accumulate. No other event is ever left out.
 *   A stream is one utterance, unless asr_stream_config.endpoint is set. It has one SPEECH_START with the first audio (or
 *   with asr_finish, if there was none), and one ENDPOINT when all audio before asr_finish has been decoded. With
 *   endpoints a stream is split into the utterances found. Each begins where the preceding one ends, audio between belongs
 *   to the later one, and times run on. There SPEECH_START comes with the first word, and an utterance without words has
 *   no events. An utterance whose search has died (ASR_FLAG_BEAM_DIED) ends there, too.
 *
 * THREADS
 *   Any threads may use an engine at once. Any threads may use a stream, too, but calls for one stream are serialised: two
 *   threads feeding one stream is legal and gives an arbitrary interleaving. asr_close must be the last call of a stream,
 *   and not at the same time as another call for it. Callbacks run on threads of the library, never two at once for a
 *   stream. A callback may call any function of its own stream except asr_close, and a slow callback delays only its own
 *   stream. A callback must not throw, longjmp or end its thread. A callback may close other streams: see asr_close for
 *   callbacks that close each other's.
 *   Calls are not cancellation points: pthread_cancel acts on a thread after its call has returned, asr_wait included. A
 *   thread that is to be cancelled while it waits should repeat waits with a timeout.
 *
 * MEMORY
 *   The caller owns every object that a function returns through a pointer to a pointer. One function frees it; freeing
 *   NULL is allowed and freeing cannot fail. Strings and arrays returned by an object belong to it and are valid until it
 *   is freed. Strings passed by the caller are copied. All strings are UTF-8.
 *   If memory runs out, a call returns ASR_OUT_OF_MEMORY, or the streams that needed it end with an ERROR of that status;
 *   other streams go on. Every stream has its ERROR and END from when it was opened, so that it always ends. asr_cancel,
 *   asr_result, asr_close and all functions that free need no memory. Two cases may still end the process: an operating
 *   system that grants more memory than it has, and a C library without memory for thread-local data. The latter concerns
 *   a library or plugin loaded by dlopen, and a thread that is new to it.
 *
 * CONFIGURATION
 *   A config struct begins with its size, is filled by its *_default function, and only grows at its end. With a smaller
 *   size (an older program) missing members have their defaults. A larger size (a newer program) is accepted if the
 *   members unknown to this library are zero, and refused with ASR_UNSUPPORTED if not. A size over 4096, or one that is not
 *   a multiple of the struct's alignment and might cut a member in half, is refused with ASR_INVALID_ARGUMENT. The same
 *   rules hold for structs that the library fills. A NULL config means the defaults.
 *
 * ERRORS
 *   Functions return ASR_OK (0) or a negative asr_status. asr_last_error returns one sentence for the calling thread: the
 *   problem, the file or argument, and the remedy. On failure out parameters are untouched.
 *
 * SIDE EFFECTS
 *   The library never writes to stdout or stderr, never aborts or exits, and leaves signals, locale, floating-point modes
 *   and the current directory alone. Loading an engine starts threads, which leave the program's signals to its own
 *   threads, and may dlopen back ends from the plugin directory beside the library (<libdir>/senone/plugins). Back ends stay
 *   loaded, and so does the library itself after dlclose. Drivers are loaded where their GPUs are, or if a back end is named:
 *   OpenCL on machines with a GPU of NVIDIA or AMD. Signal handlers that a driver of OpenCL installs while it is loaded are
 *   put back within that call; a handler that another thread of the program installs at that time may be, too. A closed
 *   engine's memory goes back to the system, the C library's free memory included (glibc).
 *   Environment variables, read when they are first needed and ignored in setuid programs:
 *     SENONE_PLUGIN_PATH  plugin directories to search instead, absolute, separated by ':'. A plugin or plugin directory is
 *                         skipped if it belongs to neither root nor the user, or if everybody may write to it; asr_devices
 *                         lists it with the reason
 *     SENONE_PLUGINS      names of the only back ends to use, separated by ',': "cpu" loads no plugin at all. "ocl_nvidia" and
 *                         "ocl_amd" load OpenCL on machines without GPUs, too
 *     SENONE_DEVICE       the device if the configuration names none
 *     XDG_RUNTIME_DIR     a directory that only the user may write to. In it, or else in /dev/shm, is the directory by
 *                         which processes of the user find and share their copies of a graph; loading the first graph
 *                         creates it
 *   After fork, a child may load its own engines on the CPU, whatever other threads of its parent were doing in the library.
 *   Engines, streams and speakers of the parent are refused with ASR_INVALID_STATE, and closing or freeing one does nothing.
 *   A child that was forked in a callback or in a log function must not return from it. GPU drivers do not survive fork: a
 *   child has no plugins, and so no GPUs, if its parent had loaded any, by asr_devices or by asr_engine_load without a
 *   device or on one of a plugin (docs/embedding.md).
 */
#ifndef SENONE_ASR_H
#define SENONE_ASR_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ASR_API
#else
#define ASR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI number is the N of libsenone.so.N: programs built for N run with every later library of the same N. */
#define ASR_ABI 0
#define ASR_VERSION_MAJOR 0
#define ASR_VERSION_MINOR 3
#define ASR_VERSION_PATCH 0
#define ASR_VERSION_SUFFIX "-dev" /* "" in a release */

/* ---- status ------------------------------------------------------------------------------------------------------- */

typedef enum asr_status {
  ASR_OK = 0,
  ASR_INVALID_ARGUMENT = -1, /* a NULL or out-of-range argument */
  ASR_INVALID_STATE = -2,    /* a call out of order: feed after finish, close from a callback */
  ASR_NOT_FOUND = -3,        /* a file, a device or a plugin does not exist */
  ASR_BAD_FILE = -4,         /* a file is damaged, truncated or of another format or version */
  ASR_BAD_AUDIO = -5,        /* samples or rows that are not finite */
  ASR_UNSUPPORTED = -6,      /* valid, but not possible with this version or this back end */
  ASR_NO_DEVICE = -7,        /* no back end, or not the named one, has a usable device */
  ASR_DEVICE_LOST = -8,      /* the device failed while in use; streams on it end, the process goes on */
  ASR_OUT_OF_MEMORY = -9,    /* host or device memory */
  ASR_IO = -10,              /* reading or writing failed: permission, disk full */
  ASR_TIMEOUT = -11,         /* asr_wait's time has passed */
  ASR_CANCELLED = -12,       /* the stream was cancelled */
  ASR_INTERNAL = -13,        /* a defect of the library; please report it with asr_last_error's text */
  ASR_BUSY = -14             /* asr_try_feed would block. Since 0.2.0 */
} asr_status;

/* Returns the name of a status, for example "ASR_BAD_FILE". Static; never NULL, also for unknown values. Any thread. */
ASR_API const char *asr_status_text(asr_status status);

/* Returns one sentence about this thread's last failed call; "" if none failed. Valid until this thread's next call. */
ASR_API const char *asr_last_error(void);

/* Returns the version of the loaded library, for example "0.2.0", or "0.3.0-dev" between releases. Static. */
ASR_API const char *asr_version(void);

/* ---- log ---------------------------------------------------------------------------------------------------------- */

typedef enum asr_log_level { ASR_LOG_ERROR = 0, ASR_LOG_WARNING = 1, ASR_LOG_INFO = 2, ASR_LOG_DEBUG = 3 } asr_log_level;

/* Receives messages of the whole library: the plugins tried, the reasons of rejections, the files loaded. message: one line
 * of printable UTF-8, with escapes (\n, \x1b) in place of control characters; valid during the call. Called from any thread,
 * also from several at once. The library holds no lock then that another call needs. So the function may call the library,
 * except for asr_set_log, and may wait for threads that do. Messages caused by its own calls, on its thread, are not passed
 * to it. */
typedef void (*asr_log_fn)(asr_log_level level, const char *message, void *user_data);

/* Sets the receiver for messages up to `level`; NULL (the initial value) discards them. May be called before anything else
 * and at any time. Returns after calls to the old receiver have ended, so its user_data may be freed then. Must not be
 * called from a log function. */
ASR_API void asr_set_log(asr_log_fn log, asr_log_level level, void *user_data);

/* ---- devices ------------------------------------------------------------------------------------------------------ */

typedef struct asr_device_list asr_device_list;

typedef struct asr_device {
  size_t size;           /* set by the caller to sizeof(asr_device) */
  const char *id;        /* "cpu:0", "cuda:1": value for asr_engine_config.device; name or file of a rejected plugin */
  const char *name;      /* the driver's name: "AMD EPYC 7763", "NVIDIA H200"; "" for a rejected plugin */
  const char *reason;    /* "" if usable, else one sentence with the reason */
  uint64_t memory_bytes; /* memory that models and streams may use; 0 if unknown */
  int32_t score;         /* the usable device with the highest score is the default; 0 = not usable */
  uint32_t n_cores;      /* cores or multiprocessors */
} asr_device;

/* Probes every back end and lists the devices, best first, then every rejected plugin with the reason. The caller owns the
 * list. Errors: ASR_INVALID_ARGUMENT, ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_devices(asr_device_list **list);
ASR_API size_t asr_device_list_count(const asr_device_list *list);
/* Fills *device for index in 0..count-1; its strings are valid until the list is freed. */
ASR_API asr_status asr_device_list_get(const asr_device_list *list, size_t index, asr_device *device);
ASR_API void asr_device_list_free(asr_device_list *list);

/* ---- engine ------------------------------------------------------------------------------------------------------- */

typedef struct asr_engine asr_engine;

typedef struct asr_engine_config {
  size_t size;
  const char *device;     /* "cpu", "cuda:0", ...; NULL or "": SENONE_DEVICE, else the best. A named device is never replaced */
  uint32_t max_lanes;     /* streams that one step advances together, 1..1024; default 8. More streams may be open */
  uint32_t window_frames; /* the most frames a stream advances in a step, 8..256; default 32 */
  uint32_t n_threads;     /* host threads for the CPU back end, 0 (default) = one per core, at most 256 */
  uint32_t reserved;      /* 0 */
  const char *fallback;   /* since 0.2.0. "cpu": once the device is lost, the CPU decodes its unfinished streams again from
                             their start, and all later streams. Nothing is lost and no event comes twice. Costs may differ
                             from the device's in the last digits. Each stream keeps its input until its END: 4 bytes per
                             sample at the model's rate (230 MB for an hour at 16 kHz) or per value of a row. NULL or ""
                             (default): none, streams of a lost device end with ASR_DEVICE_LOST */
  uint32_t device_timeout_ms; /* since 0.2.0. A search that takes longer has lost its device; 0 (default) = 60,000. CUDA
                                 devices only */
  const char *search_device;  /* since 0.2.0. "cpu", ...: searches, while `device` scores. Graphs need no memory of `device`
                                 then; log-likelihoods pass through the host. NULL or "" (default): `device` does both */
  uint32_t model_bits;        /* since 0.2.0. 16: the device may keep Gaussians in 16 bits a parameter, for half the memory;
                                 scores change by a few hundredths near a Gaussian, by a thousandth of themselves far from
                                 all. Models that 16 bits do not hold so stay whole. 0 (default) or 32: it does not */
  uint32_t n_best_gaussians;  /* since 0.2.0. N > 0: of the Gaussians that states share only the N likeliest of a frame are
                                 mixed (docs/performance.md, "Scoring less"). CPU only, at most 65,536. 0 (default): all */
  float cluster_share;        /* since 0.2.0. Between 0 and 1: states with Gaussians of their own are scored in clusters of
                                 similar ones. Each frame chooses this share of the clusters, the nearest; states of the
                                 others get an estimate ("Scoring less"). CPU only. 0 (default) or 1: all are scored */
  uint32_t reserved2;         /* 0 */
} asr_engine_config;

ASR_API void asr_engine_config_default(asr_engine_config *config);

/* Loads the bundle (a directory made by `senone import` and `senone graph`) on a device. Its files are read, checked and
 * closed; later changes of the files do not affect the engine. Takes from milliseconds to seconds. The caller owns *engine
 * and closes it with asr_engine_close.
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND (no such bundle, or a part of it), ASR_BAD_FILE (with file and field), ASR_IO
 * (a part cannot be read, or is not a regular file), ASR_NO_DEVICE (with device and reason), ASR_UNSUPPORTED,
 * ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_engine_load(const char *bundle_path, const asr_engine_config *config, asr_engine **engine);

typedef struct asr_engine_info {
  size_t size;           /* set by the caller to sizeof(asr_engine_info) */
  const char *device_id; /* the device it was loaded on; the engine owns all strings here */
  const char *device_name;
  double sample_rate_hz; /* the model's; streams of any other rate are resampled */
  double frame_shift_ms;
  uint32_t n_feature_dims; /* D: the row length of ASR_INPUT_FEATURES */
  uint32_t n_states;       /* S: the row length of ASR_INPUT_LOGLIKES */
  uint32_t n_words;        /* word symbols in the graph; this and the following members describe the graph "" */
  uint32_t n_graph_states;
  uint64_t n_graph_arcs;
  const char *search_device_id; /* since 0.2.0. The device that searches: `device_id`, or that of search_device */
  const char *search_device_name;
} asr_engine_info;

/* Fills *info. Errors: ASR_INVALID_ARGUMENT. Any thread. */
ASR_API asr_status asr_engine_get_info(const asr_engine *engine, asr_engine_info *info);

/* Graphs of one acoustic model, each with its words; streams choose one by name (asr_stream_config.graph, asr_set_graph). ""
 * is the bundle's own graph, which may be replaced but not removed. docs/grammars.md. All since 0.2.0.
 *
 * asr_engine_add_graph loads the graph of a bundle, with the search settings and filler words of its senone.json, or of a
 * graph archive (`senone graph --archive`). The acoustic model is not loaded again. The graph must have been made for the
 * engine's model: for the same hmms.bin or, if one of the two lists none, the same acoustic.bin. If a graph has the
 * name, the new one replaces it. Current utterances go on with the old one, which is freed with its last user. If the
 * call fails, nothing has changed. asr_engine_add_graph_bytes does the same with the bytes of an archive, which are
 * copied. Both read and check the graph on the calling thread. The engine's own thread then loads it between two steps.
 * That takes microseconds on the CPU; a GPU copies the graph while streams wait. As that thread may log, a log function
 * must not wait for a thread that calls these functions. Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND, ASR_BAD_FILE,
 * ASR_IO (as asr_engine_load), ASR_UNSUPPORTED (made for another model), ASR_INVALID_STATE (called in a log function),
 * ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY. Any thread.
 *
 * asr_engine_remove_graph removes the name. Streams that have chosen it go on with its last graph until they choose another;
 * the graph is freed with its last user. Errors: ASR_INVALID_ARGUMENT (also ""), ASR_NOT_FOUND (no graph has the name),
 * ASR_INVALID_STATE (called in a log function). Any thread. */
ASR_API asr_status asr_engine_add_graph(asr_engine *engine, const char *name, const char *bundle_path);
ASR_API asr_status asr_engine_add_graph_bytes(asr_engine *engine, const char *name, const void *bytes, size_t n_bytes);
ASR_API asr_status asr_engine_remove_graph(asr_engine *engine, const char *name);

/* Acoustic models beside the engine's own, for the same states, which streams choose from and fuse by name
 * (asr_stream_config.fusion). "" is the engine's own, which can be neither replaced nor removed. docs/fusion.md. All since
 * 0.2.0.
 *
 * asr_engine_add_model loads the acoustic model and the front end of a bundle; the bundle needs no graph. The model
 * must have as many states as the engine's own, and the same sample rate and frame shift. Where both bundles list
 * hmms.bin, it must be the same. Everything else may differ. An engine has up to 32 models with its own. If a model has
 * the name, the new one takes its place for streams that are opened later. If the call fails, all is as it was. The
 * bundle is read and checked on the calling thread. The engine's own thread then loads the model between two steps, and
 * streams wait for that. Errors: ASR_INVALID_ARGUMENT (also ""), ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO (as
 * asr_engine_load), ASR_UNSUPPORTED (other states or frames; too many models), ASR_INVALID_STATE (called in a log
 * function), ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY. Any thread.
 *
 * asr_engine_remove_model takes the name away. Streams that have the model keep it, also over asr_reset; it goes away with the
 * last of them. Errors: ASR_INVALID_ARGUMENT (also ""), ASR_NOT_FOUND, ASR_INVALID_STATE (called in a log function). Any
 * thread. */
ASR_API asr_status asr_engine_add_model(asr_engine *engine, const char *name, const char *bundle_path);
ASR_API asr_status asr_engine_remove_model(asr_engine *engine, const char *name);

/* Gives back the caller's hold on the engine. Open streams keep it alive and keep working. NULL is allowed. */
ASR_API void asr_engine_close(asr_engine *engine);

/* ---- speaker ------------------------------------------------------------------------------------------------------ */

/* A speaker to whose voice features and model are adapted. The methods are a transform of the feature rows of the
 * speaker's streams (fMLLR), a warp of their frequency axis (VTLN), and a transform of the acoustic model's means
 * (MLLR). All are estimated from the speaker's utterances (docs/adaptation.md). A speaker may have any number of
 * streams, at once or one after another. It may be used with any engine of the same acoustic model. Any threads may use
 * one. All of it since 0.2.0. */
typedef struct asr_speaker asr_speaker;

/* Makes a speaker without adaptation data, for asr_stream_config.speaker; it may outlive the engine. Reads the acoustic
 * model again unless the engine already has a speaker; the model stays in memory while a speaker exists. Errors:
 * ASR_INVALID_ARGUMENT, ASR_UNSUPPORTED (the model has full covariances, or rows of over 96 values), ASR_NOT_FOUND,
 * ASR_BAD_FILE, ASR_IO, ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_speaker_new(asr_engine *engine, asr_speaker **speaker);

/* Re-estimates the transforms from all earlier speech of the speaker's streams up to a FINAL, with at least 1 s of words. The
 * first ten minutes of an utterance count. FINALs without words, with ASR_FLAG_REJECTED or ASR_FLAG_BEAM_DIED do not count.
 * Utterances that begin later are transformed. Takes up to some seconds, on the calling thread, which may be a callback's.
 * The result depends on the set of utterances, not on their order. If there are more than 200 s, a part is left out.
 * Errors: ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (too little speech), ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_adapt(asr_speaker *speaker);

/* Bits that select the methods of asr_adapt. Since 0.2.0. */
enum {
  ASR_SPEAKER_FMLLR = 1, /* a transform of the feature rows; the default of a new speaker */
  ASR_SPEAKER_VTLN = 2,  /* a warp of the frequency axis, as another length of the vocal tract makes: the likeliest of n_warps
                            from 0.80 to 1.20, given what was recognised */
  ASR_SPEAKER_MLLR = 4   /* a transform of the model's means, for rows under the speaker's other transform if there is one */
};

/* Selects the estimates of asr_adapt. n_warps: 11 or 21; without ASR_SPEAKER_VTLN it is 0. Another number than before
 * begins the search anew. A warp is chosen from streams of audio that are opened later; the first minute of each of
 * their utterances counts, silence included. asr_adapt chooses the warp first. If the warp changes, asr_adapt forgets
 * the rows and the transforms, which belong to the old warp, and estimates no transform. Then open new streams, or call
 * asr_reset for open ones, and call it again when more was said. Without speech that a warp could be chosen from, the
 * warp stays. ASR_ADAPTATION_BETWEEN_UTTERANCES does not change it. FINALs of such streams come later by up to a few
 * per cent of their audio's length. Errors: ASR_INVALID_ARGUMENT, ASR_UNSUPPORTED (the filter bank is too narrow),
 * ASR_NO_DEVICE, ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_speaker_set_methods(asr_speaker *speaker, uint32_t methods, uint32_t n_warps);

/* The initial warp of the speaker's streams; 1 at first. A stream keeps its warp to its end, or asr_reset. While the speaker
 * has another warp, the stream is neither transformed nor learned from. asr_speaker_set_warp discards rows and transforms if
 * it changes the warp. Errors: ASR_INVALID_ARGUMENT (NULL; not 0.8..1.25), ASR_UNSUPPORTED (the filter bank is too narrow). */
ASR_API asr_status asr_speaker_get_warp(asr_speaker *speaker, float *warp);
ASR_API asr_status asr_speaker_set_warp(asr_speaker *speaker, float warp);

/* The transform y = A x + b by rows, as in Kaldi's archives: [n_feature_dims][n_feature_dims + 1], with b last in each row.
 * asr_speaker_get_transform sets *n_values, 0 without a transform, and copies the values to `values`, which has the
 * given capacity. If `values` is NULL it only sets the number. asr_speaker_set_transform replaces the transform, for
 * utterances that begin later, and discards that of the means; n_values 0 removes it. Errors: ASR_INVALID_ARGUMENT
 * (NULL; capacity too small; another number of values; values that are not finite), ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_speaker_get_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values);
ASR_API asr_status asr_speaker_set_transform(asr_speaker *speaker, const float *values, size_t n_values);

/* The transform of the means, m' = A m + b, in the same form; A between feature streams has no effect. It is for utterances
 * that begin later, of streams that were opened (or reset) when the speaker had one or ASR_SPEAKER_MLLR. Each engine loads the
 * model anew with such means, while its streams wait. Speaker and streams share it; it goes away with the last of them. Errors:
 * the same, ASR_INVALID_ARGUMENT also for means far beyond the model's rows. Since 0.2.0. */
ASR_API asr_status asr_speaker_get_mean_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values);
ASR_API asr_status asr_speaker_set_mean_transform(asr_speaker *speaker, const float *values, size_t n_values);

/* Frees the handle; streams with the speaker go on with it. NULL is allowed. */
ASR_API void asr_speaker_free(asr_speaker *speaker);

/* ---- stream ------------------------------------------------------------------------------------------------------- */

typedef struct asr_stream asr_stream;
typedef struct asr_event asr_event;

/* Receives the events of a stream, in order. The callback owns the event and must free it with asr_event_free, at any time.
 * user_data comes from the stream's config. A callback may block; it then occupies a thread of the library until it returns.
 * An engine has as many threads for callbacks as have run at once, without a limit. */
typedef void (*asr_event_fn)(asr_stream *stream, asr_event *event, void *user_data);

typedef enum asr_input {
  ASR_INPUT_INT16 = 0,    /* samples: const int16_t *, interleaved channels */
  ASR_INPUT_FLOAT = 1,    /* samples: const float *, interleaved channels, full scale -1..1 */
  ASR_INPUT_FEATURES = 2, /* samples: const float *, rows of n_feature_dims, one per frame, after all transforms */
  ASR_INPUT_LOGLIKES = 3, /* samples: const float *, rows of n_states, one per frame: natural log-likelihoods; -INFINITY
                             (since 0.3.0): the state cannot be visited in this frame, another one can */
  /* Since 0.3.0: samples: const uint8_t *, interleaved channels of G.711, as telephony has them. */
  ASR_INPUT_ULAW = 4,
  ASR_INPUT_ALAW = 5
} asr_input;

typedef enum asr_cmn {
  ASR_CMN_MODEL = 0, /* the kind in the model's bundle; but live instead of batch if the stream has endpoints or a
                        partial_interval_ms */
  ASR_CMN_LIVE = 1,  /* a running mean, whose level and channel follow the audio: results come while audio is fed. The first
                        rows are held for the bundle's cmn_lookahead_frames of speech, 0.4 s by default (docs/live.md) */
  ASR_CMN_BATCH = 2, /* the mean of the whole utterance: most exact for files; decoding begins at asr_finish */
  ASR_CMN_NONE = 3
} asr_cmn;

/* Presets for the ends of a stream's utterances. Since 0.2.0. */
typedef enum asr_endpoint {
  ASR_ENDPOINT_OFF = 0,       /* the stream is one utterance, which ends with asr_finish */
  ASR_ENDPOINT_COMMAND = 1,   /* soon after a command: 0.3 s of silence where the graph may end, else 0.8 s */
  ASR_ENDPOINT_DICTATION = 2, /* after a sentence: 0.7 s where the graph may end, else 1.5 s */
  ASR_ENDPOINT_CAPTIONS = 3   /* at short pauses: 0.3 s where the graph may end, else 0.5 s, and before 8 s are over */
} asr_endpoint;

/* Selects whether a stream with endpoints decodes all its audio. Since 0.2.0. */
typedef enum asr_vad {
  ASR_VAD_DEFAULT = 0, /* as ASR_VAD_ON if audio is fed, else as ASR_VAD_OFF */
  ASR_VAD_OFF = 1,     /* background is decoded, too, and may be misrecognised as words */
  ASR_VAD_ON = 2       /* between utterances, only audio classified as speech by a voice activity detector is decoded */
} asr_vad;

/* Times at which a speaker's transform is estimated. Since 0.2.0. */
typedef enum asr_adaptation {
  ASR_ADAPTATION_ON_CALL = 0,            /* by asr_adapt */
  ASR_ADAPTATION_BETWEEN_UTTERANCES = 1, /* also after a FINAL of this stream, once there is 1 s of words and then with every
                                            fifth more; the next utterance waits for it. Needs a speaker and an endpoint */
  ASR_ADAPTATION_OFF = 2                 /* by asr_adapt, but this stream's speech is not used */
} asr_adaptation;

/* How a stream fuses the log-likelihoods of its models, frame by frame and state by state. G5 to G9 of docs/equations.md. Since
 * 0.2.0. */
typedef enum asr_fusion_rule {
  ASR_FUSION_SUM = 0,     /* weighted sum of log-likelihoods */
  ASR_FUSION_LOG_SUM = 1, /* logarithm of the weighted sum of likelihoods */
  ASR_FUSION_MAX = 2,     /* largest weighted likelihood of each state */
  ASR_FUSION_FOLLOW = 3,  /* as LOG_SUM; weights follow how likely each model made the last follow_ms of speech */
  ASR_FUSION_SELECT = 4   /* as LOG_SUM for the first select_ms of speech, then the likeliest model alone */
} asr_fusion_rule;

/* The acoustic models of a stream. asr_open copies it. Since 0.2.0. */
typedef struct asr_fusion {
  size_t size;
  asr_fusion_rule rule;      /* default ASR_FUSION_SUM; means nothing for one model */
  uint32_t n_models;         /* 1..32 */
  const char *const *models; /* [n_models] names of asr_engine_add_model; "" is the engine's own */
  const float *weights; /* [n_models] 1e-6..1e6, or 0, which leaves the model out; only their ratios matter. NULL (default) =
                           equal ones */
  uint32_t follow_ms;   /* ASR_FUSION_FOLLOW's time constant, 10..600000; 0 (default) = 1000 */
  uint32_t select_ms;   /* speech that ASR_FUSION_SELECT decides after, 10..600000; 0 (default) = 1000 */
} asr_fusion;

ASR_API void asr_fusion_default(asr_fusion *fusion);

typedef struct asr_stream_config {
  size_t size;
  asr_input input;              /* default ASR_INPUT_INT16 */
  uint32_t sample_rate_hz;      /* rate of the fed audio, 1000..768000; 0 (default) = the model's */
  uint32_t n_channels;          /* interleaved channels of the fed audio, 1..64; default 1 */
  int32_t channel;              /* the one to recognise, from 0; -1 (default) = their mean */
  asr_cmn cmn;                  /* default ASR_CMN_MODEL */
  float vtln_warp;              /* warp of the frequency axis, 0.8..1.25; 1 (default) = none, or the speaker's */
  float beam;                   /* natural-log width of the search, > 0; 0 (default) = the bundle's */
  float acoustic_scale;         /* factor on log-likelihoods, > 0; 0 (default) = the bundle's */
  float word_insertion_cost;    /* added to the cost of every word; NaN (default) = the bundle's */
  uint32_t max_active;          /* most tokens kept per frame; 0 (default) = the bundle's */
  uint32_t min_active;          /* fewest tokens kept per frame, if there are as many; default 200 */
  uint32_t partial_interval_ms; /* audio time between partial events; 0 = none; default 0. Others need a running mean:
                                   ASR_CMN_MODEL is ASR_CMN_LIVE then, and with ASR_CMN_BATCH none come before asr_finish */
  uint32_t max_backlog_ms;      /* asr_feed blocks while the unprocessed audio is longer; 0 = never blocks; default 30000.
                                   Batch normalisation keeps an utterance's cepstra until its end, 5 kB a second */
  asr_event_fn callback;        /* NULL (default): events are polled */
  void *user_data;              /* passed to the callback */
  float lattice_beam;           /* > 0: final events carry a lattice of this width (natural log; 6..10 is usual), and
                                   confidences; 0 (default) = neither. ASR_UNSUPPORTED if the device makes no lattices */
  uint32_t n_best;              /* most alternatives in final events, 0..10000; default 1. More than 1 needs a lattice_beam >
                                   0, and the lattice limits their number */
  /* All following members since 0.2.0. Milliseconds, 100..600000, of silence at the end of the best path; 0 (default) = the
   * preset's values. They have no effect without a preset. Silence is audio that the model's filler phones match. */
  asr_endpoint endpoint;             /* default ASR_ENDPOINT_OFF. Other values need a running mean: ASR_CMN_MODEL is
                                        ASR_CMN_LIVE then if the model asks for ASR_CMN_BATCH */
  uint32_t silence_at_end_ms;        /* after words, if the best path may well end the graph's sentence */
  uint32_t silence_after_words_ms;   /* after any words */
  uint32_t silence_without_words_ms; /* before any word; the utterance is then dropped without events */
  uint32_t longest_utterance_ms;     /* greatest length; from 0.7 of it on, 100 ms of silence are enough */
  uint32_t reserved;                 /* 0 */
  asr_vad vad;                       /* with an endpoint; default ASR_VAD_DEFAULT */
  uint32_t pre_roll_ms;              /* audio before the first sound of an utterance that belongs to it, 20..5000; 0
                                        (default) = 300. No effect without the detector */
  const char *graph;                 /* graph of the first utterance; NULL or "" (default) = the bundle's own */
  uint32_t early_endpoint_ms;        /* silence after words, shorter than the endpoint's, until ASR_EVENT_PROBABLY_FINISHED;
                                        100..600000; 0 (default) = no such event. No effect without an endpoint */
  float reject_threshold;    /* FINAL events with a higher asr_event_out_of_grammar have ASR_FLAG_REJECTED; 0..1. 0 (default) =
                                the graph's: 0.5 for grammars and word lists, off for language models and for bundles made
                                without a background (docs/rejection.md); below 0 = off: there is no score */
  asr_speaker *speaker;      /* the speaker; the caller keeps the handle. NULL (default) = unknown. Not with
                                ASR_INPUT_LOGLIKES */
  asr_adaptation adaptation; /* default ASR_ADAPTATION_ON_CALL */
  uint32_t reserved2;        /* 0 */
  const asr_fusion *fusion;  /* acoustic models instead of the engine's own; the struct stays the caller's. NULL (default) =
                                the engine's own. Not with a speaker nor with ASR_INPUT_LOGLIKES; with ASR_INPUT_FEATURES
                                only models of the own model's front end */
  uint32_t max_utterance_s;  /* greatest length of an utterance in seconds, 1..10000000; 0 (default) = 86400, a day. What is
                                fed beyond it is not taken: asr_feed fails, and the results of what was fed before follow as
                                after asr_finish. No effect with an endpoint, which has longest_utterance_ms */
  uint32_t reserved3;        /* 0 */
} asr_stream_config;

ASR_API void asr_stream_config_default(asr_stream_config *config);

/* Opens a stream on the engine. Errors: ASR_INVALID_ARGUMENT (which field, and its range; a speaker of another acoustic model),
 * ASR_NOT_FOUND (the engine has no such graph or model), ASR_UNSUPPORTED (such as a lattice_beam on a device without lattices),
 * ASR_OUT_OF_MEMORY, ASR_DEVICE_LOST (an earlier stream lost the device, and no fallback took over: load the engine again). Any
 * thread. */
ASR_API asr_status asr_open(asr_engine *engine, const asr_stream_config *config, asr_stream **stream);

/* Normalisation learns a mean of the speaker, the microphone and the level. A stream's state carries it over to a later
 * stream of the same speaker. So the first words are heard as well as the last ones. Streams of audio with ASR_CMN_LIVE
 * have a state (ASR_CMN_MODEL where that comes to live). They have none if the bundle's front_end.cmn_lookahead_frames
 * is 0, or if they fuse models of other front ends than the engine's own. Without a state the calls return
 * ASR_INVALID_STATE. Utterances of one stream carry it over by themselves.
 *
 * asr_stream_get_state writes *n_bytes bytes, at most 16384, to `bytes`, which has the given capacity; if `bytes` is NULL it
 * only sets the length. The length is the same for all streams of an engine. After END the state covers all audio; before,
 * it covers the audio processed so far, which depends on timing. Errors: ASR_INVALID_ARGUMENT (a NULL, or capacity too
 * small: nothing is written), ASR_INVALID_STATE, ASR_OUT_OF_MEMORY. Any thread.
 *
 * asr_stream_set_state starts the stream from a state; call it before the first asr_feed. The bytes are valid for
 * engines whose model has the same cepstra: the front end of senone.json except cmn, dynamic features and transform.
 * They are valid on every device, and on machines of the same byte order. They contain sums and numbers of frames, no
 * audio, and count as a few seconds of speech. Errors: ASR_INVALID_ARGUMENT (NULL; no state, a damaged one, or one of
 * another front end), ASR_UNSUPPORTED (a version that this library does not know), ASR_INVALID_STATE (also once audio
 * was fed), ASR_OUT_OF_MEMORY. Any thread. Both since 0.2.0. */
ASR_API asr_status asr_stream_get_state(asr_stream *stream, void *bytes, size_t capacity, size_t *n_bytes);
ASR_API asr_status asr_stream_set_state(asr_stream *stream, const void *bytes, size_t n_bytes);

/* Appends n samples of each channel (or n rows, for features and log-likelihoods) and returns as soon as they are copied; n
 * = 0 is allowed. The result does not depend on how a signal is cut into calls. Digital silence, zeros for more than 64
 * samples of the model's rate, is replaced by noise of at most one step of 16-bit samples. No model knows silence
 * without energy. Blocks while the backlog is over max_backlog_ms, except in a callback. Errors: ASR_INVALID_ARGUMENT
 * (also more than 1 TiB), ASR_INVALID_STATE (after asr_finish; or the utterance has reached max_utterance_s: the stream has
 * taken what fits and ended its input, FINAL and END follow, and asr_finish may be called or not), ASR_BAD_AUDIO (a sample
 * is not finite; nothing of this call is taken), ASR_OUT_OF_MEMORY (a part of this call may have been taken, so the stream
 * has failed: ERROR and END follow), or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_feed(asr_stream *stream, const void *samples, size_t n);

/* Ends the current utterance with the audio fed before, like an endpoint. Its last few frames, which features of later audio
 * need, belong to the next utterance, or to none if asr_finish follows without further audio. Does not wait for its FINAL.
 * Since 0.2.0. Errors: ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (the stream has no endpoints, or was finished),
 * ASR_OUT_OF_MEMORY, or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_end_utterance(asr_stream *stream);

/* Feeds without blocking: takes all n samples, or nothing while the backlog is over max_backlog_ms or another thread feeds
 * the stream. Since 0.2.0. Errors: ASR_BUSY (nothing was taken; call again later), and those of asr_feed. Any thread. */
ASR_API asr_status asr_try_feed(asr_stream *stream, const void *samples, size_t n);

/* Drops the current utterance, with all audio fed before: for barge-in, or for a prompt recognised as speech. Later audio
 * belongs to the next utterance; clock and means run on. Does not block. If SPEECH_START has come, ENDPOINT and a FINAL
 * without words and with ASR_FLAG_CANCELLED follow; otherwise there are no events. A FINAL that was posted before may still
 * be taken. Without a current utterance it only drops the audio. Since 0.2.0. Errors: ASR_INVALID_ARGUMENT,
 * ASR_INVALID_STATE (the stream has no endpoints, or was finished), or the status of the ERROR event if the stream has
 * failed. Any thread. */
ASR_API asr_status asr_cancel_utterance(asr_stream *stream);

/* Resets the stream to its state after asr_open with the same configuration: clock, means, utterances; also after
 * asr_finish, asr_cancel, END or ERROR. Unfinished audio and pending events are dropped; the next event is READY. Takes
 * microseconds and does not block: a running callback goes on, and the next one comes after it. A blocked feed in another
 * thread returns ASR_CANCELLED; an asr_wait goes on with the new events. Since 0.2.0. Errors: ASR_INVALID_ARGUMENT,
 * ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY; the stream is then unchanged. Any thread, also in the stream's own
 * callback. */
ASR_API asr_status asr_reset(asr_stream *stream);

/* Chooses the graph of the stream's next utterance, and of later ones, by its name; NULL or "" is the bundle's own. If the
 * stream's config leaves beam, acoustic_scale, word_insertion_cost or max_active to the bundle, the graph's values apply. An
 * utterance uses the graph that has the name when the utterance begins. Does not block. Since 0.2.0.
 *
 * With endpoints the next utterance is the first whose sound (without the detector: whose first frame) was fed after the
 * call. An utterance that began before keeps its graph if its SPEECH_START has come. It also keeps it if SPEECH_START comes
 * once all frames fed before the call are decoded, because there are words on the best path. Otherwise it is dropped at that
 * frame, without events, and the next utterance begins there. So the call marks a position in the audio, and its effect does
 * not depend on the time of decoding. Without endpoints the call must come before the first asr_feed, or after asr_reset,
 * which restores the graph of the config.
 *
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND (the engine has no such graph now), ASR_INVALID_STATE (audio was fed already,
 * without endpoints; finished), ASR_OUT_OF_MEMORY, or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_set_graph(asr_stream *stream, const char *name);

/* Boosts phrases for one utterance, for example names in the caller's address book. `text` has n_bytes of UTF-8, one phrase
 * per line, with words as in the graph, byte for byte: graphs of `senone graph` and asr_build.h have Unicode's normal form C.
 * Phrases with words that the graph lacks are logged. Lines whose first word begins with '#' are comments. Each occurrence of a
 * phrase lowers the graph cost of a path in the utterance's lattice by `bonus` (natural log, -1000..1000; 3..8 is
 * usual). Below 0 the phrases become less likely. The FINAL, its alternatives, confidences and lattice use these costs.
 * Overlapping phrases count each. Phrases that the lattice does not contain cannot be boosted, so a wider lattice_beam
 * finds more. Partial results, endpoints and the out-of-grammar score do not change; so a FINAL may differ from stable
 * words. Calls add up; `text` NULL removes all boosts. Does not block. Since 0.2.0.
 *
 * The call marks a position in the audio, like asr_set_graph. It applies to the first utterance with a FINAL that ends after
 * the audio fed before the call. So it may be made while the utterance is spoken; without endpoints, at any time before
 * asr_finish. A cancelled utterance leaves its boosts to the next one.
 *
 * Errors: ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (the stream makes no lattices; finished), ASR_UNSUPPORTED (over 1 MiB
 * would wait), ASR_OUT_OF_MEMORY, or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_boost(asr_stream *stream, const char *text, size_t n_bytes, float bonus);

/* Declares the audio complete; FINAL and END events follow. Does not wait for them. Errors: ASR_INVALID_ARGUMENT,
 * ASR_INVALID_STATE (a second call), ASR_OUT_OF_MEMORY (the stream has failed: ERROR and END follow), or the status of the
 * ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_finish(asr_stream *stream);

/* Stops working on the stream as soon as possible: an ERROR event with ASR_CANCELLED and END follow; a blocked feed returns
 * ASR_CANCELLED. Does not block. After END it has no effect. Errors: ASR_INVALID_ARGUMENT. Any thread. */
ASR_API asr_status asr_cancel(asr_stream *stream);

/* Takes the next event, in order, without waiting: the caller owns *event, which is NULL if no event is available. Errors:
 * ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (the stream has a callback). Any thread. */
ASR_API asr_status asr_result(asr_stream *stream, asr_event **event);

/* Waits until asr_result has an event (polling), or until END has been delivered (callback); returns at once if that is
 * already so. timeout_ms < 0 means no limit. Errors: ASR_TIMEOUT, ASR_INVALID_ARGUMENT, ASR_INVALID_STATE. The last
 * means one of three. The stream's own callback called it. Or a callback that this stream's callback waits for,
 * directly or through others, called it without a timeout. Or, polling, END has been taken and no event can follow. Any
 * thread. */
ASR_API asr_status asr_wait(asr_stream *stream, int32_t timeout_ms);

/* Ends the stream, finished or not: waits for a running callback, discards pending events, frees everything. Work on the
 * stream's results stops without being waited for. NULL is allowed. In the stream's own callback it only logs an error. If
 * callbacks close each other's streams, so that they would wait for each other, the last of these calls does not wait. That
 * stream's callback may then still run when the call returns, and must no longer use its stream. */
ASR_API void asr_close(asr_stream *stream);

/* ---- events ------------------------------------------------------------------------------------------------------- */

typedef enum asr_event_kind {
  ASR_EVENT_READY = 1,        /* the stream accepts audio */
  ASR_EVENT_SPEECH_START = 2, /* audio has begun */
  ASR_EVENT_PARTIAL = 3,      /* the best words so far; they may still change */
  ASR_EVENT_ENDPOINT = 4,     /* the utterance is complete; FINAL follows */
  ASR_EVENT_FINAL = 5,        /* the words of the utterance */
  ASR_EVENT_ERROR = 6,        /* the stream has failed, see asr_event_status and asr_event_text */
  ASR_EVENT_END = 7,          /* no event follows */
  /* Since 0.2.0, for streams with an early_endpoint_ms, between SPEECH_START and ENDPOINT. */
  ASR_EVENT_PROBABLY_FINISHED = 8, /* the silence after the last word is that long: an ENDPOINT is near, unless speech
                                      resumes. Has the words so far, like a PARTIAL. Comes once, and again after
                                      SPEECH_RESUMED */
  ASR_EVENT_SPEECH_RESUMED = 9     /* takes the last PROBABLY_FINISHED back: speech resumes before the ENDPOINT */
} asr_event_kind;

/* Flags of PARTIAL and FINAL events. */
#define ASR_FLAG_NOT_FINAL_STATE 1u /* the final state was not reached: the words may stop in the middle of a sentence */
#define ASR_FLAG_BEAM_DIED 2u       /* no path survived to the end of the audio: the words end where the search did */
#define ASR_FLAG_NO_SPEECH 4u       /* the audio was too short for one frame, or held no words */
/* The whole lattice would have taken too much time or memory. It is narrower than lattice_beam; asr_lattice.beam has the
 * width. Since 0.2.0. */
#define ASR_FLAG_BEAM_NARROWED 8u
#define ASR_FLAG_FELL_BACK 16u /* since 0.2.0: the device was lost; asr_engine_config.fallback decoded this */
#define ASR_FLAG_CANCELLED 32u /* since 0.2.0: asr_cancel_utterance dropped the utterance: no words, no lattice */

/* Since 0.2.0: the speech is probably not in the grammar, and the words are wrong: asr_event_out_of_grammar is above
 * asr_stream_config.reject_threshold. The event still has the words. */
#define ASR_FLAG_REJECTED 64u

typedef struct asr_word {
  size_t size;      /* set by the caller to sizeof(asr_word) */
  const char *text; /* owned by the event */
  double start_s;   /* in seconds from the first sample fed */
  double end_s;
  float confidence; /* 0..1: share of the lattice with this word here, times 1 - asr_event_out_of_grammar if there is one; -1
                       without a lattice and in PARTIAL */
  uint32_t word_id; /* number in words.txt */
  /* Labels of the grammar (docs/grammars.md), owned by the event, and "" if the grammar has none. Since 0.2.0 */
  const char *rule; /* the public rule of the sentence */
  const char *tags; /* the word's tags, joined by '\n' */
} asr_word;

/* All accessors allow NULL and return 0, "" or ASR_INVALID_ARGUMENT. Any thread; an event is immutable. */
ASR_API asr_event_kind asr_event_get_kind(const asr_event *event);
ASR_API asr_status asr_event_status(const asr_event *event); /* ASR_OK except in ERROR events */
ASR_API uint32_t asr_event_flags(const asr_event *event);
ASR_API double asr_event_time_s(const asr_event *event);    /* the event's position in the audio, from the first sample */
ASR_API const char *asr_event_text(const asr_event *event); /* words joined by blanks; the sentence of an ERROR; else "" */

/* Alternatives, best first, with distinct word_ids: 1 to n_best in FINAL, fewer than there could be if they would take over
 * 256 MiB; 1 in PARTIAL and PROBABLY_FINISHED; 0 for kinds without words. */
ASR_API size_t asr_event_n_alternatives(const asr_event *event);
ASR_API const char *asr_event_alternative_text(const asr_event *event, size_t alternative);
/* Natural-log costs of an alternative: graph_cost, with word insertions and the cost of ending, and acoustic_cost, unscaled.
 * The best alternative has the least graph_cost + acoustic_scale * acoustic_cost. With a speaker's transform the acoustic
 * costs are those of the transformed rows, and are not comparable with untransformed ones. Either pointer may be NULL. */
ASR_API asr_status asr_event_alternative_costs(const asr_event *event, size_t alternative, double *graph_cost,
                                               double *acoustic_cost);
/* The public rule of an alternative's words, and their tags, joined by '\n'; "" if the grammar has none. Alternatives of the
 * same words may differ in these. Since 0.2.0. */
ASR_API const char *asr_event_rule(const asr_event *event, size_t alternative);
ASR_API const char *asr_event_tags(const asr_event *event, size_t alternative);
ASR_API size_t asr_event_n_words(const asr_event *event, size_t alternative);
ASR_API asr_status asr_event_word(const asr_event *event, size_t alternative, size_t index, asr_word *word);
/* Number of first words of alternative 0 that are certain: every later event of the utterance with words begins with them,
 * with the same times. These are the words shared by all paths that the search still follows. The number never falls within
 * an utterance, and counts all words in FINAL. Back ends of others may be unable to compute it, and have 0 in PARTIAL. A
 * FINAL with a lattice has the lattice's times, and of words of exactly equal cost the lattice's. Certainty does not cover
 * words dropped by asr_cancel_utterance or changed by asr_boost. Nor does it cover words decoded again on a fallback
 * (ASR_FLAG_FELL_BACK), or a lattice without enough memory (ASR_FLAG_BEAM_NARROWED). Since 0.2.0. */
ASR_API size_t asr_event_n_stable_words(const asr_event *event);

/* Probability that the speech is not in the grammar, 0..1: compares the words of a FINAL event with any phones in any order.
 * -1 if unknown: in other events, without words, and if the stream does not compare (asr_stream_config.reject_threshold).
 * Since 0.2.0. */
ASR_API float asr_event_out_of_grammar(const asr_event *event);

/* The lattice of a FINAL event contains every word sequence that costs at most `beam` more than the best. Each is
 * exactly one path, with the costs and times of its best alignment. Every arc lies on such a path. Arcs of several
 * paths may also form paths that cost more, which alternatives leave out.
 *
 * A path begins in state 0, follows arcs, each a word, and ends in a state whose end costs are finite. Its cost is the sum
 * over its arcs, and over that end, of graph_cost + acoustic_scale * acoustic_cost; costs are natural logarithms, negated.
 * Arcs are grouped by state, in the order of the states, and lead to higher-numbered states. Equal audio and settings give
 * the same lattice, bit for bit on one device. The cut of the audio into calls and the engine's other work do not
 * matter.
 *
 * A posterior is the share of a path, an arc or an end in all paths of the lattice, each weighted by exp(-cost). The
 * times of arcs are those of the graph's labels, which may differ by some frames from the sound of the word. asr_word
 * has the times of the words themselves. Transition-ids identify the transitions of the model's HMMs in each frame
 * (docs/graph-file.md). */
typedef struct asr_lattice {
  size_t size;       /* set by the caller to sizeof(asr_lattice) */
  uint32_t n_states; /* 0: no path, no frame was decoded */
  uint32_t n_frames; /* frames of every path */
  uint64_t n_arcs;
  double beam;                     /* the stream's lattice_beam, or less (ASR_FLAG_BEAM_NARROWED) */
  double acoustic_scale;           /* the stream's */
  const double *state_time_s;      /* [n_states] from the first sample fed */
  const double *end_graph_cost;    /* [n_states] INFINITY if no path ends here */
  const double *end_acoustic_cost; /* [n_states] cost after the last word; 0 if no path ends here */
  const double *end_posterior;     /* [n_states] */
  const uint32_t *arc_from;        /* [n_arcs] state, ascending */
  const uint32_t *arc_to;          /* [n_arcs] state, higher than arc_from */
  const uint32_t *arc_word_id;     /* [n_arcs] as asr_word.word_id */
  const char *const *arc_word;     /* [n_arcs] text of the word */
  const double *arc_graph_cost;    /* [n_arcs] including word insertion costs */
  const double *arc_acoustic_cost; /* [n_arcs] unscaled */
  const double *arc_posterior;     /* [n_arcs] */
  const double *arc_start_s;       /* [n_arcs] state_time_s of arc_from */
  const double *arc_end_s;         /* [n_arcs] state_time_s of arc_to */
  /* transition_id[alignment_begin[i]] ... transition_id[alignment_begin[i + 1] - 1], one per frame, belong to arc i if i <
   * n_arcs, and otherwise to the end in state i - n_arcs. */
  const uint64_t *alignment_begin; /* [n_arcs + n_states + 1] */
  const uint32_t *transition_id;
} asr_lattice;

/* Fills *lattice; the event owns its arrays and strings, which are valid until it is freed. Errors: ASR_INVALID_ARGUMENT;
 * ASR_NOT_FOUND (not a FINAL event, or its stream had no lattice_beam). Any thread. Since 0.2.0. */
ASR_API asr_status asr_event_lattice(const asr_event *event, asr_lattice *lattice);

/* Frees an event; NULL is allowed. Events may outlive their stream and engine. */
ASR_API void asr_event_free(asr_event *event);

/* ---- recordings --------------------------------------------------------------------------------------------------- */

/* A decoder of the bytes of a recording, as they come from a file, a pipe or a socket: bytes in, samples for a stream of
 * ASR_INPUT_FLOAT out. All since 0.3.0. It reads WAV (RIFF, RIFX, RF64) and AU of integers, floats and G.711, and samples
 * without a header. docs/audio.md lists the formats and says what comes of headers that are wrong. The samples do not depend
 * on the pieces in which bytes are pushed. Any thread may use a decoder, but calls for one decoder must not overlap.
 *
 *   asr_audio_open(NULL, &audio);
 *   while (n_bytes = ...) { asr_audio_push(audio, bytes, n_bytes); while (asr_audio_read(...), n > 0) asr_feed(...); }
 *   asr_audio_finish(audio); ... asr_audio_read as above ... asr_audio_close(audio); */
typedef struct asr_audio asr_audio;

typedef enum asr_audio_format {
  ASR_AUDIO_FILE = 0,          /* WAV or AU */
  ASR_AUDIO_FILE_OR_S16LE = 1, /* the same, or ASR_AUDIO_S16LE if it does not begin like any file that is known */
  /* Samples without a header, interleaved; nothing is guessed. */
  ASR_AUDIO_S16LE = 2, /* 16 bits, little-endian */
  ASR_AUDIO_S16BE = 3, /* 16 bits, big-endian */
  ASR_AUDIO_F32LE = 4, /* float, little-endian, full scale -1..1 */
  ASR_AUDIO_ULAW = 5,  /* G.711 */
  ASR_AUDIO_ALAW = 6
} asr_audio_format;

#define ASR_AUDIO_MIX (-1) /* the mean of all channels; but one of them, with a warning, if they cancel each other */
#define ASR_AUDIO_ALL (-2) /* all channels, interleaved */

typedef struct asr_audio_config {
  size_t size;
  asr_audio_format format; /* default ASR_AUDIO_FILE */
  uint32_t sample_rate_hz; /* of samples without a header, 1000..768000; default 16000 */
  uint32_t n_channels;     /* of samples without a header, 1..64; default 1 */
  int32_t channel;         /* the one to decode, from 0, ASR_AUDIO_MIX (default) or ASR_AUDIO_ALL */
} asr_audio_config;

ASR_API void asr_audio_config_default(asr_audio_config *config);

typedef struct asr_audio_info {
  size_t size;             /* set by the caller to sizeof(asr_audio_info) */
  const char *format_name; /* "WAV", "FLAC", ...; "" for samples without a header, or not known yet. A constant */
  uint32_t is_known;       /* 1: the header has been read, so that the following are known */
  uint32_t has_header;     /* 1: a file; 0: samples without a header */
  uint32_t sample_rate_hz;
  uint32_t n_channels;      /* of the recording */
  uint32_t n_out_channels;  /* of the decoded samples: 1, or n_channels with ASR_AUDIO_ALL */
  uint32_t n_bits;          /* of a sample of one channel */
  uint32_t is_float;        /* 1: floats; 0: integers or G.711 */
  uint32_t is_other;        /* 1: it was refused, but another library, such as libsndfile, may read it */
  uint64_t n_missing_bytes; /* that the header tells of and the finished input lacks */
} asr_audio_info;

/* Makes a decoder; a NULL config means the defaults. Errors: ASR_INVALID_ARGUMENT, ASR_UNSUPPORTED, ASR_OUT_OF_MEMORY. Any
 * thread. */
ASR_API asr_status asr_audio_open(const asr_audio_config *config, asr_audio **audio);

/* Takes the next n_bytes bytes. Their samples wait in memory until asr_audio_read. Errors: ASR_UNSUPPORTED (a format that is
 * not decoded: asr_last_error names it and the remedy), ASR_BAD_FILE (a header that cannot be), ASR_INVALID_ARGUMENT (also a
 * channel that the recording lacks), ASR_INVALID_STATE (finished), ASR_OUT_OF_MEMORY; after an error nothing more is decoded.
 */
ASR_API asr_status asr_audio_push(asr_audio *audio, const void *bytes, size_t n_bytes);

/* Says that no more bytes follow; the last samples can be read then. Errors: as asr_audio_push. */
ASR_API asr_status asr_audio_finish(asr_audio *audio);

/* Writes at most n samples of each channel to samples[n][n_out_channels], full scale -1..1, and their number to *n_read: 0 if
 * none is ready. Errors: ASR_INVALID_ARGUMENT. */
ASR_API asr_status asr_audio_read(asr_audio *audio, float *samples, size_t n, size_t *n_read);

/* Fills *info with what is known so far. Errors: ASR_INVALID_ARGUMENT. */
ASR_API asr_status asr_audio_get_info(const asr_audio *audio, asr_audio_info *info);

/* Returns the next warning, such as "is cut short: ...", a sentence whose subject is the recording; NULL if there is none.
 * Most come with asr_audio_finish. Valid until the next call for the decoder. */
ASR_API const char *asr_audio_warning(asr_audio *audio);

/* Frees the decoder; NULL is allowed. */
ASR_API void asr_audio_close(asr_audio *audio);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_H */
