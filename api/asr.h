/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr.h - the Senone speech recogniser: its only public header, and its manual.
 *
 * LIFE CYCLE
 *   An engine is a model and its graphs, loaded on one device. A stream is one source of audio. Many streams share one
 *   engine.
 *
 *     asr_engine *engine;                                    asr_stream *stream;
 *     asr_engine_load("bundle", NULL, &engine);              asr_open(engine, NULL, &stream);
 *     asr_feed(stream, samples, n); ... asr_finish(stream);  asr_wait(stream, -1); asr_result(stream, &event);
 *     asr_close(stream);                                     asr_engine_close(engine);
 *
 *   The life of a stream is: open, feed as often as you like, finish, take events until ASR_EVENT_END, close. At any time,
 *   also after END, asr_reset begins it anew. An engine may be closed while streams are open, because it is reference-counted
 *   and freed with its last stream.
 *
 * EVENTS
 *   A stream reports its results as events, in this order:
 *     READY, { SPEECH_START, PARTIAL*, ENDPOINT, FINAL }*, END
 *   With an early_endpoint_ms, PROBABLY_FINISHED and SPEECH_RESUMED come in turn among the PARTIALs, and with a no_input_ms
 *   NO_INPUT comes between utterances. An ERROR may take the place of any event, and END follows it. Ignore kinds that you do
 *   not know, since later versions add some.
 *
 *   With an output (asr_stream_config.output) a stream gives rows instead of words: READY, ROWS*, END.
 *
 *   Events are polled with asr_result or passed to a callback; both give the same objects with the same contents. A PARTIAL
 *   that has not been read yet is replaced by the next one, also if it waits for the callback, so that unread events do not
 *   accumulate. No other event is ever left out.
 *
 *   A stream is one utterance unless asr_stream_config.endpoint is set. It then has one SPEECH_START, with the first audio
 *   (or with asr_finish if there was none), and one ENDPOINT, when all audio before asr_finish has been decoded. With
 *   endpoints a stream is split into the utterances that are found. Each begins where the one before ended, audio between two
 *   belongs to the later one, and times run on. SPEECH_START then comes with the first word, and an utterance without words
 *   has no events. If the search of an utterance dies (ASR_FLAG_BEAM_DIED), the utterance ends there.
 *
 * THREADS
 *   Any thread may call any function, unless its description says otherwise. Calls for one stream are serialised, so that two
 *   threads may feed one stream, although the order of their samples is then arbitrary. asr_close must be the last call for a
 *   stream, and must not overlap another call for it.
 *
 *   Callbacks run on threads of the library, never two at once for one stream. A slow callback delays its own stream and,
 *   unless max_callback_threads limits their threads, no other. It may call any function for its own stream except
 *   asr_close, and may close other streams (asr_close says what happens if callbacks close each other's). It must not throw,
 *   longjmp or end its thread.
 *
 *   Calls are not cancellation points: pthread_cancel acts on a thread after its call has returned, which includes asr_wait.
 *   A thread that is to be cancelled while it waits should repeat waits with a timeout.
 *
 * MEMORY
 *   The caller owns every object that a function returns through a pointer to a pointer, and frees it with one function.
 *   Freeing NULL is allowed, and freeing cannot fail. Strings and arrays that an object returns belong to it and are valid
 *   until it is freed. Strings that the caller passes are copied. All strings are UTF-8.
 *
 *   If memory runs out, the call returns ASR_OUT_OF_MEMORY, or the streams that needed it end with an ERROR of that status;
 *   other streams go on. ERROR and END are allocated when a stream is opened, so that every stream ends. asr_cancel,
 *   asr_result, asr_close and all functions that free need no memory. Two cases may still end the process: a system that
 *   grants more memory than it has, and a C library that has no memory for thread-local data. The latter concerns a library
 *   or plugin that was loaded by dlopen, and a thread that is new to it.
 *
 * CONFIGURATION
 *   A config struct begins with its size, is filled by its *_default function, and only grows at its end. If the size is
 *   smaller than the library's (an older program), the missing members have their defaults. If it is larger (a newer
 *   program), the members that the library does not know must be zero, or the call fails with ASR_UNSUPPORTED. A size of more
 *   than 4096, or one that is not a multiple of the struct's alignment and might therefore cut a member in half, is refused
 *   with ASR_INVALID_ARGUMENT. The same rules hold for structs that the library fills. A NULL config means the defaults.
 *
 * ERRORS
 *   Functions return ASR_OK (0) or a negative asr_status. asr_last_error then has a message for the calling thread, in one
 *   line, that names the problem, the file or argument, and the remedy. On failure out parameters are untouched.
 *
 *   Each function lists its errors. Four are not repeated unless they mean more than this: ASR_INVALID_ARGUMENT for an
 *   argument that is NULL or out of range, ASR_INVALID_STATE for a handle of the process from which this one was forked,
 *   ASR_OUT_OF_MEMORY, and ASR_INTERNAL. "The stream's status" is that of its ERROR event, if the stream has failed.
 *
 * SIDE EFFECTS
 *   The library never writes to stdout or stderr, never aborts or exits, and leaves signals, locale, floating-point modes and
 *   the current directory alone. Loading an engine starts threads, which leave the program's signals to its own threads, and
 *   may dlopen back ends from the plugin directory beside the library (<libdir>/senone/plugins). Back ends stay loaded, and
 *   so does the library itself after dlclose. Drivers are loaded only where their GPUs are, or if a back end is named: OpenCL
 *   on machines with a GPU of NVIDIA or AMD. Signal handlers that an OpenCL driver installs while it is loaded are put back
 *   within that call; a handler that another thread of the program installs at the same time may be put back, too. When an
 *   engine is closed its memory goes back to the system, including what the C library holds free (glibc).
 *
 *   Environment variables are read when they are first needed, and ignored in setuid programs:
 *     SENONE_PLUGIN_PATH  plugin directories to search instead, absolute, separated by ':'. A plugin or plugin directory is
 *                         skipped if it belongs to neither root nor the user, or if everybody may write to it; asr_devices
 *                         lists it with the reason
 *     SENONE_PLUGINS      names of the only back ends to use, separated by ',': "cpu" loads no plugin at all. "ocl_nvidia" and
 *                         "ocl_amd" load OpenCL on machines without GPUs, too
 *     SENONE_DEVICE       the device if the configuration names none
 *     XDG_RUNTIME_DIR     a directory that only the user may write to. In it, or else in /dev/shm, is the directory through
 *                         which processes of the user find and share their copies of a graph; loading the first graph
 *                         creates it
 *
 *   After fork, a child may load engines of its own on the CPU, whatever other threads of its parent were doing in the
 *   library. Engines, streams and speakers of the parent are refused with ASR_INVALID_STATE, and closing or freeing one does
 *   nothing. A child that was forked in a callback or in a log function must not return from it. GPU drivers do not survive
 *   fork: if the parent had loaded plugins, by asr_devices or by loading an engine without a device or on a plugin's, the
 *   child has no plugins and so no GPUs (docs/embedding.md).
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
  ASR_DEVICE_LOST = -8,      /* the device failed while in use; its streams end, the process goes on */
  ASR_OUT_OF_MEMORY = -9,    /* host or device memory */
  ASR_IO = -10,              /* reading or writing failed: permission, disk full */
  ASR_TIMEOUT = -11,         /* asr_wait's time has passed */
  ASR_CANCELLED = -12,       /* the stream was cancelled */
  ASR_INTERNAL = -13,        /* a defect of the library; please report it with asr_last_error's text */
  ASR_BUSY = -14             /* asr_try_feed would block, or rows are to be taken before asr_feed. Since 0.2.0 */
} asr_status;

/* Returns the name of a status, for example "ASR_BAD_FILE"; a text for unknown values too, never NULL. Static. */
ASR_API const char *asr_status_text(asr_status status);

/* Returns the message about this thread's last failed call, in one line; "" if none failed. Valid until this thread's next
 * call. */
ASR_API const char *asr_last_error(void);

/* Returns the version of the loaded library, for example "0.2.0", or "0.3.0-dev" between releases. Static. */
ASR_API const char *asr_version(void);

/* ---- log ---------------------------------------------------------------------------------------------------------- */

typedef enum asr_log_level { ASR_LOG_ERROR = 0, ASR_LOG_WARNING = 1, ASR_LOG_INFO = 2, ASR_LOG_DEBUG = 3 } asr_log_level;

/* Receives the messages of the whole library: which plugins were tried, why some were rejected, which files were loaded.
 *
 * message: one line of printable UTF-8, with escapes (\n, \x1b) in place of control characters; valid during the call.
 *
 * The function is called on any thread, and on several at once. The library holds no lock at that time which another call
 * needs, so the function may call the library (except asr_set_log) and may wait for threads that do. Messages that its own
 * calls cause on its thread are not passed to it. */
typedef void (*asr_log_fn)(asr_log_level level, const char *message, void *user_data);

/* Sets the receiver of messages.
 *
 * log: NULL, the initial value, discards them.
 * level: messages up to this one are passed.
 * user_data: passed to the receiver.
 *
 * May be called before anything else and at any time, but not in a log function. Returns after calls of the old receiver have
 * ended, so that its user_data may be freed then. */
ASR_API void asr_set_log(asr_log_fn log, asr_log_level level, void *user_data);

/* ---- devices ------------------------------------------------------------------------------------------------------ */

typedef struct asr_device_list asr_device_list;

typedef struct asr_device {
  size_t size;           /* set by the caller to sizeof(asr_device) */
  const char *id;        /* "cpu:0", "cuda:1": value for asr_engine_config.device; name or file of a rejected plugin */
  const char *name;      /* the driver's name: "AMD EPYC 7763", "NVIDIA H200"; "" for a rejected plugin */
  const char *reason;    /* "" if usable, else a message with the reason */
  uint64_t memory_bytes; /* memory that models and streams may use; 0 if unknown */
  int32_t score;         /* the usable device with the highest score is the default; 0 = not usable */
  uint32_t n_cores;      /* cores or multiprocessors */
} asr_device;

/* Probes every back end, and lists the devices, best first, then every rejected plugin with the reason.
 *
 * list: receives the list, which the caller frees with asr_device_list_free. */
ASR_API asr_status asr_devices(asr_device_list **list);

/* Returns the number of entries; 0 for NULL. */
ASR_API size_t asr_device_list_count(const asr_device_list *list);

/* Fills *device with entry `index`, 0..count-1; its strings are valid until the list is freed. */
ASR_API asr_status asr_device_list_get(const asr_device_list *list, size_t index, asr_device *device);

/* Frees the list. NULL is allowed. */
ASR_API void asr_device_list_free(asr_device_list *list);

/* ---- engine ------------------------------------------------------------------------------------------------------- */

typedef struct asr_engine asr_engine;

typedef struct asr_engine_config {
  size_t size;
  const char *device;     /* "cpu", "cuda:0", ...; NULL or "": SENONE_DEVICE, else the best. A named device is never replaced */
  uint32_t max_lanes;     /* streams that one step advances together, 1..1024; default 8. More streams may be open */
  uint32_t window_frames; /* maximum number of frames that a stream advances in a step, 8..256; default 32 */
  uint32_t n_threads;     /* host threads for the CPU back end, 0 (default) = one per core, at most 256 */
  uint32_t reserved;      /* 0 */
  const char *fallback;   /* since 0.2.0. "cpu": once the device is lost, the CPU decodes its unfinished streams again from
                             their start, and all later streams. Nothing is lost and no event comes twice, but costs may differ
                             from the device's in the last digits. Each stream therefore keeps its input until its END: 4 bytes
                             per sample at the model's rate (230 MB for an hour at 16 kHz) or per value of a row. NULL or ""
                             (default): none, and streams of a lost device end with ASR_DEVICE_LOST */
  uint32_t device_timeout_ms;    /* since 0.2.0. A search that takes longer has lost its device; 0 (default) = 60,000. CUDA
                                    devices only */
  const char *search_device;     /* since 0.2.0. "cpu", ...: searches, while `device` scores. Graphs then need no memory of
                                    `device`, but log-likelihoods pass through the host. NULL or "" (default): `device` does
                                    both, or the CPU searches for a back end that cannot */
  uint32_t model_bits;           /* since 0.2.0. 16: the device may keep Gaussians in 16 bits a parameter, for half the memory;
                                    scores change by a few hundredths near a Gaussian, by a thousandth of themselves far from all.
                                    A model that 16 bits cannot represent accurately is kept in 32. 0 (default) or 32: never */
  uint32_t n_best_gaussians;     /* since 0.2.0. N > 0: of the Gaussians that states share only the N likeliest of a frame are
                                    mixed (docs/performance.md, "Scoring less"). CPU only, at most 65,536. 0 (default): all */
  float cluster_share;           /* since 0.2.0. Between 0 and 1: states with Gaussians of their own are scored in clusters of
                                    similar ones. Each frame chooses this share of the clusters, the nearest; states of the
                                    others get an estimate ("Scoring less"). CPU only. 0 (default) or 1: all are scored */
  uint32_t max_callback_threads; /* since 0.3.0. Maximum number of threads that run callbacks, up to 1024; 0 (default) = as many
                                    as callbacks run at once. With a limit a callback that blocks may delay other streams'
                                    events; one that waits in asr_wait or asr_close does not count meanwhile */
} asr_engine_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_engine_config_default(asr_engine_config *config);

/* Loads a bundle on a device, which takes from milliseconds to seconds.
 *
 * bundle_path: a directory made by `senone import` and `senone graph`. Its files are read, checked and closed, so that later
 *   changes of the files do not affect the engine. It may have no graph (since 0.3.0): streams then need one of
 *   asr_engine_add_graph.
 * config: NULL for the defaults.
 * engine: receives the engine, which the caller closes with asr_engine_close.
 *
 * Errors: ASR_NOT_FOUND (no such bundle, or a part of it is missing), ASR_BAD_FILE (with file and field), ASR_IO (a part
 *   cannot be read, or is not a regular file), ASR_NO_DEVICE (with device and reason), ASR_UNSUPPORTED. */
ASR_API asr_status asr_engine_load(const char *bundle_path, const asr_engine_config *config, asr_engine **engine);

typedef struct asr_engine_info {
  size_t size;           /* set by the caller to sizeof(asr_engine_info) */
  const char *device_id; /* the device it was loaded on; the engine owns all strings here */
  const char *device_name;
  double sample_rate_hz; /* the model's; streams of any other rate are resampled */
  double frame_shift_ms;
  uint32_t n_feature_dims; /* D: the row length of ASR_INPUT_FEATURES */
  uint32_t n_states;       /* S, the number of senones (pdfs) or tokens: the row length of ASR_INPUT_LOGLIKES */
  uint32_t n_words;        /* word symbols in the graph; this and the following members describe the graph "" */
  uint32_t n_graph_states;
  uint64_t n_graph_arcs;
  const char *search_device_id; /* since 0.2.0. The device that searches: `device_id`, or that of search_device */
  const char *search_device_name;
  uint32_t is_batch;       /* since 0.3.0. 1: ASR_CMN_MODEL is ASR_CMN_BATCH, but for endpoints and partial results */
  uint32_t n_measurements; /* since 0.3.0. How often a recording is to be measured, 1 or 2: ASR_CMN_MEASURE */
} asr_engine_info;

/* Fills *info. */
ASR_API asr_status asr_engine_get_info(const asr_engine *engine, asr_engine_info *info);

/* An engine holds graphs of its acoustic model by name, each with its words. Streams choose one (asr_stream_config.graph,
 * asr_set_graph). "" is the bundle's own graph, which may be replaced but not removed; a bundle without one has none
 * until one is added under that name. docs/grammars.md has more.
 *
 * Both functions that add a graph read and check it on the calling thread. The engine's own thread then loads it between two
 * steps, which takes microseconds on the CPU; a GPU copies the graph while streams wait. Because that thread may log, a log
 * function must not wait for a thread that calls one of these functions. */

/* Loads a graph of the engine's model under a name, without loading the acoustic model again.
 *
 * name: if a graph has it, the new one replaces that graph. Utterances under way go on with the old one, which is freed with
 *   its last user.
 * bundle_path: a bundle, whose graph comes with the search settings and filler words of its senone.json, or a graph archive
 *   (`senone graph --archive`). The graph must have been made for the engine's model: for the same hmms.bin or, if one of the
 *   two lists none, the same acoustic.bin.
 *
 * If the call fails, nothing has changed.
 *
 * Errors: ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO (as asr_engine_load), ASR_UNSUPPORTED (made for another model),
 *   ASR_INVALID_STATE (called in a log function), ASR_DEVICE_LOST (as asr_open). Since 0.2.0. */
ASR_API asr_status asr_engine_add_graph(asr_engine *engine, const char *name, const char *bundle_path);

/* The same from memory.
 *
 * bytes, n_bytes: the bytes of a graph archive, at any address; they are copied.
 *
 * Errors: as asr_engine_add_graph. Since 0.2.0. */
ASR_API asr_status asr_engine_add_graph_bytes(asr_engine *engine, const char *name, const void *bytes, size_t n_bytes);

/* Removes the name of a graph. Streams that have chosen it go on with its last graph until they choose another; the graph is
 * freed with its last user.
 *
 * Errors: ASR_INVALID_ARGUMENT (also for ""), ASR_NOT_FOUND (no graph has the name), ASR_INVALID_STATE (called in a log
 *   function). Since 0.2.0. */
ASR_API asr_status asr_engine_remove_graph(asr_engine *engine, const char *name);

/* Boosts phrases in all utterances of streams with a lattice_beam that begin later: those of one graph, or of every graph.
 * They count beside those of asr_boost, which says what a boost is. Utterances under way stay as they are.
 *
 * graph: the name of a graph, which keeps its phrases when another graph takes the name; NULL: every graph of the engine, also
 *   one that is added later.
 * text, n_bytes, bonus: as asr_boost. NULL removes all phrases that were given for the same `graph`; otherwise calls add up.
 * allow_unknown: 0: phrases with words that the graph lacks, or with `graph` NULL that every present graph lacks, are refused,
 *   and nothing is boosted by the call. 1: they are left out, and the call logs them.
 *
 * Errors: ASR_NOT_FOUND (no graph has the name; words that the graph lacks, which the error message lists), ASR_UNSUPPORTED
 *   (over 1 MiB for the graph or for the engine). Since 0.3.0. */
ASR_API asr_status asr_engine_boost(asr_engine *engine, const char *graph, const char *text, size_t n_bytes, float bonus,
                                    uint32_t allow_unknown);

/* Loads an acoustic model beside the engine's own, for the same states. Streams choose from the models and fuse them by name
 * (asr_stream_config.fusion, docs/fusion.md). An engine has up to 32 models, its own included.
 *
 * name: "" is the engine's own model, which can be neither replaced nor removed. If a model has the name, the new one takes
 *   its place for streams that are opened later.
 * bundle_path: a bundle, of which the acoustic model and the front end are loaded; it needs no graph. The model must have as
 *   many states as the engine's own, and the same sample rate and frame shift. Where both bundles list hmms.bin, it must be
 *   the same. Everything else may differ.
 *
 * The bundle is read and checked on the calling thread. The engine's own thread then loads the model between two steps, and
 * streams wait for that. If the call fails, nothing has changed.
 *
 * Errors: ASR_INVALID_ARGUMENT (also for ""), ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO (as asr_engine_load), ASR_UNSUPPORTED
 *   (other states or frames; too many models), ASR_INVALID_STATE (called in a log function), ASR_DEVICE_LOST (as asr_open).
 *   Since 0.2.0. */
ASR_API asr_status asr_engine_add_model(asr_engine *engine, const char *name, const char *bundle_path);

/* Removes the name of a model. Streams that already use the model keep it, even across asr_reset; it is freed when the last
 * of them closes.
 *
 * Errors: ASR_INVALID_ARGUMENT (also for ""), ASR_NOT_FOUND, ASR_INVALID_STATE (called in a log function). Since 0.2.0. */
ASR_API asr_status asr_engine_remove_model(asr_engine *engine, const char *name);

/* asr_engine_stats says what an engine has done since it was loaded, for a server's monitoring. Counters only grow; rates come
 * from two readings: (busy_s - before) / (searched_s - before) is the real-time factor in between, and n_lanes / n_steps the
 * number of streams that a step advanced, of max_lanes at most. Since 0.3.0. */
typedef struct asr_engine_stats {
  size_t size;        /* set by the caller to sizeof(asr_engine_stats) */
  uint32_t n_streams; /* not closed yet */
  uint32_t reserved;
  double fed_s;      /* audio that was fed, or rows as time, of all streams */
  double searched_s; /* how much of it has been searched, or dropped as background */
  double waiting_s;  /* fed to streams that have not ended, and not searched yet */
  double busy_s;     /* time that the engine's threads have spent in steps */
  uint64_t n_steps;  /* that searched */
  uint64_t n_lanes;  /* sum over these steps of the streams that they advanced */
} asr_engine_stats;

/* Fills *stats. Cheap, and does not wait for the engine. Since 0.3.0. */
ASR_API asr_status asr_engine_get_stats(const asr_engine *engine, asr_engine_stats *stats);

/* Gives back the caller's hold on the engine. Open streams keep it alive and keep working. NULL is allowed. */
ASR_API void asr_engine_close(asr_engine *engine);

/* ---- speaker ------------------------------------------------------------------------------------------------------ */

/* A speaker to whose voice features and model are adapted (docs/adaptation.md). There are three methods, all of them
 * estimated from what the speaker has said: a transform of the feature rows of the speaker's streams (fMLLR), a warp of their
 * frequency axis (VTLN), and a transform of the acoustic model's means (MLLR).
 *
 * A speaker may have any number of streams, at once or one after another, on any engines with the same acoustic model. All of
 * it since 0.2.0. */
typedef struct asr_speaker asr_speaker;

/* Makes a speaker without adaptation data, for asr_stream_config.speaker. It may outlive the engine.
 *
 * speaker: receives the speaker, which the caller frees with asr_speaker_free.
 *
 * The acoustic model is read again unless the engine already has a speaker, and stays in memory while a speaker exists.
 *
 * Errors: ASR_UNSUPPORTED (the model has rows of over 96 values), ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO. */
ASR_API asr_status asr_speaker_new(asr_engine *engine, asr_speaker **speaker);

/* Estimates the speaker's transforms again, from all speech of the speaker's streams up to their last FINAL. Utterances that
 * begin later are transformed.
 *
 * At least 1 s of words is needed. The first ten minutes of an utterance count; FINALs without words, with ASR_FLAG_REJECTED
 * or with ASR_FLAG_BEAM_DIED do not. If there are more than 200 s, a part is left out. The result depends on the set of
 * utterances, and not on their order. The call takes up to some seconds on the calling thread, which may be that of a
 * callback.
 *
 * Errors: ASR_INVALID_STATE (too little speech). */
ASR_API asr_status asr_adapt(asr_speaker *speaker);

/* Bits that select the methods of asr_adapt. Since 0.2.0. */
enum {
  ASR_SPEAKER_FMLLR = 1, /* a transform of the feature rows; the default of a new speaker */
  ASR_SPEAKER_VTLN = 2,  /* a warp of the frequency axis, as another length of the vocal tract makes: the likeliest of n_warps
                            from 0.80 to 1.20, given what was recognised */
  ASR_SPEAKER_MLLR = 4   /* a transform of the model's means, for rows under the speaker's other transform if there is one */
};

/* Selects what asr_adapt estimates.
 *
 * methods: one or more of ASR_SPEAKER_FMLLR, ASR_SPEAKER_VTLN and ASR_SPEAKER_MLLR.
 * n_warps: 11 or 21 with ASR_SPEAKER_VTLN, else 0. Another number than before begins the search for a warp anew.
 *
 * A warp is chosen from streams of audio that are opened later. The first minute of each of their utterances counts, silence
 * included, and their FINALs come later by up to a few per cent of the audio's length. Without speech to choose from, the
 * warp stays.
 *
 * asr_adapt chooses the warp first. If the warp changes, asr_adapt forgets the rows and the transforms, because they belong
 * to the old warp, and estimates no transform. Then open new streams, or call asr_reset for open ones, and call asr_adapt
 * again when more has been said. ASR_ADAPTATION_BETWEEN_UTTERANCES does not change the warp.
 *
 * Errors: ASR_UNSUPPORTED (the filter bank is too narrow), ASR_NO_DEVICE. */
ASR_API asr_status asr_speaker_set_methods(asr_speaker *speaker, uint32_t methods, uint32_t n_warps);

/* Sets *warp to the initial warp of the speaker's streams, 1 at first. A stream keeps its warp until its end or asr_reset.
 * While the speaker has another warp, the stream is neither transformed nor learned from. */
ASR_API asr_status asr_speaker_get_warp(asr_speaker *speaker, float *warp);

/* Sets the warp, 0.8..1.25, of streams that are opened later. A changed warp discards the speaker's rows and transforms.
 *
 * Errors: ASR_UNSUPPORTED (the filter bank is too narrow). */
ASR_API asr_status asr_speaker_set_warp(asr_speaker *speaker, float warp);

/* Gets the transform of the feature rows, y = A x + b, as in Kaldi's archives: [n_feature_dims][n_feature_dims + 1], with b
 * last in each row.
 *
 * values, capacity: receives the values, and the number that it has room for. NULL: only *n_values is set.
 * n_values: receives the number of values; 0 without a transform.
 *
 * Errors: ASR_INVALID_ARGUMENT (also if capacity is too small). */
ASR_API asr_status asr_speaker_get_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values);

/* Replaces the transform of the feature rows, for utterances that begin later, and discards that of the means.
 *
 * values, n_values: as asr_speaker_get_transform returns them. n_values 0 removes the transform.
 *
 * Errors: ASR_INVALID_ARGUMENT (also another number of values, and values that are not finite). */
ASR_API asr_status asr_speaker_set_transform(asr_speaker *speaker, const float *values, size_t n_values);

/* Gets the transform of the means, m' = A m + b, in the same form; parts of A between feature streams have no effect.
 *
 * Errors: as asr_speaker_get_transform. */
ASR_API asr_status asr_speaker_get_mean_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values);

/* Replaces the transform of the means, for utterances that begin later, in streams that were opened (or reset) when the
 * speaker had one or ASR_SPEAKER_MLLR.
 *
 * Each engine loads the model with such means anew, while its streams wait. Speaker and streams share this model, and it is
 * freed with the last of them.
 *
 * Errors: as asr_speaker_set_transform; ASR_INVALID_ARGUMENT also for means far beyond the model's rows. */
ASR_API asr_status asr_speaker_set_mean_transform(asr_speaker *speaker, const float *values, size_t n_values);

/* Frees the handle. Streams with the speaker keep it. NULL is allowed. */
ASR_API void asr_speaker_free(asr_speaker *speaker);

/* ---- stream ------------------------------------------------------------------------------------------------------- */

typedef struct asr_stream asr_stream;
typedef struct asr_event asr_event;

/* Receives the events of a stream, in order.
 *
 * event: the callback owns it and must free it with asr_event_free, now or later.
 * user_data: from the stream's config.
 *
 * A callback may block, and then occupies a thread of the library until it returns. An engine has as many threads for
 * callbacks as have run at once, without a limit unless asr_engine_config.max_callback_threads sets one. See THREADS for what a
 * callback may call. */
typedef void (*asr_event_fn)(asr_stream *stream, asr_event *event, void *user_data);

typedef enum asr_input {
  ASR_INPUT_INT16 = 0,    /* samples: const int16_t *, interleaved channels */
  ASR_INPUT_FLOAT = 1,    /* samples: const float *, interleaved channels, full scale -1..1 */
  ASR_INPUT_FEATURES = 2, /* samples: const float *, rows of n_feature_dims, one per frame, after all transforms */
  ASR_INPUT_LOGLIKES = 3, /* samples: const float *, rows of n_states, one per frame: natural log-likelihoods; -INFINITY
                             (since 0.3.0) closes a state in this frame, as long as another one is open */
  /* Since 0.3.0: samples: const uint8_t *, interleaved channels of G.711, as telephony has them. */
  ASR_INPUT_ULAW = 4,
  ASR_INPUT_ALAW = 5
} asr_input;

/* Where rows of log-likelihoods are, for asr_feed_device. Since 0.3.0. */
typedef enum asr_memory {
  ASR_MEMORY_HOST = 0,
  ASR_MEMORY_CUDA = 1,  /* memory of the engine's CUDA device, or managed memory */
  ASR_MEMORY_OPENCL = 2 /* a buffer of the engine's OpenCL context */
} asr_memory;

typedef enum asr_cmn {
  ASR_CMN_MODEL = 0, /* the kind that the model's bundle asks for, but live instead of batch if the stream has endpoints or a
                        partial_interval_ms */
  ASR_CMN_LIVE = 1, /* a running mean, which follows the level and the channel of the audio, so that results come while audio is
                       fed. The first rows wait for the bundle's cmn_lookahead_frames of speech, 0.4 s by default
                       (docs/live.md) */
  ASR_CMN_BATCH = 2, /* the mean of the whole utterance: most exact for files, but decoding begins at asr_finish */
  ASR_CMN_NONE = 3,
  /* Since 0.3.0: no words. The stream measures the mean of its audio for a later stream with ASR_CMN_BATCH, and keeps nothing.
   * A recording of a day that is fed twice so takes no more memory than one of a minute (asr_stream_set_state). */
  ASR_CMN_MEASURE = 4
} asr_cmn;

/* Presets that say when an utterance of a stream ends. Since 0.2.0. */
typedef enum asr_endpoint {
  ASR_ENDPOINT_OFF = 0,       /* the stream is one utterance, which ends with asr_finish */
  ASR_ENDPOINT_COMMAND = 1,   /* soon after a command: 0.3 s of silence where the graph may end, else 0.8 s */
  ASR_ENDPOINT_DICTATION = 2, /* after a sentence: 0.7 s where the graph may end, else 1.5 s */
  ASR_ENDPOINT_CAPTIONS = 3   /* at short pauses: 0.3 s where the graph may end, else 0.5 s, and before 8 s are over */
} asr_endpoint;

/* Whether a stream with endpoints decodes all its audio. Since 0.2.0. */
typedef enum asr_vad {
  ASR_VAD_DEFAULT = 0, /* as ASR_VAD_ON if audio is fed, else as ASR_VAD_OFF */
  ASR_VAD_OFF = 1,     /* background is decoded, too, and may be recognised as words */
  ASR_VAD_ON = 2       /* between utterances only audio that a voice activity detector takes for speech is decoded */
} asr_vad;

/* When a speaker's transform is estimated. Since 0.2.0. */
typedef enum asr_adaptation {
  ASR_ADAPTATION_ON_CALL = 0,            /* by asr_adapt */
  ASR_ADAPTATION_BETWEEN_UTTERANCES = 1, /* also after a FINAL of this stream, once there is 1 s of words and then whenever
                                            there is a fifth more; the next utterance waits for it. Needs a speaker and an
                                            endpoint */
  ASR_ADAPTATION_OFF = 2                 /* by asr_adapt, but without the speech of this stream */
} asr_adaptation;

/* What a stream gives: words, or rows for your own decoder (docs/hybrid.md). Since 0.3.0. */
typedef enum asr_output {
  ASR_OUTPUT_WORDS = 0,
  ASR_OUTPUT_FEATURES = 1, /* rows of n_feature_dims after all transforms, as ASR_INPUT_FEATURES takes them */
  ASR_OUTPUT_LOGLIKES = 2  /* rows of n_states: the log-likelihoods of all senones, as ASR_INPUT_LOGLIKES takes them */
} asr_output;

/* How a stream fuses the log-likelihoods of its models, frame by frame and state by state: G5 to G9 of docs/equations.md.
 * Since 0.2.0. */
typedef enum asr_fusion_rule {
  ASR_FUSION_SUM = 0,     /* weighted sum of log-likelihoods */
  ASR_FUSION_LOG_SUM = 1, /* logarithm of the weighted sum of likelihoods */
  ASR_FUSION_MAX = 2,     /* largest weighted likelihood of each state */
  ASR_FUSION_FOLLOW = 3,  /* as LOG_SUM; weights follow how likely each model made the last follow_ms of speech */
  ASR_FUSION_SELECT = 4   /* as LOG_SUM for the first select_ms of speech, then the likeliest model alone */
} asr_fusion_rule;

/* The acoustic models of a stream, which asr_open copies. Since 0.2.0. */
typedef struct asr_fusion {
  size_t size;
  asr_fusion_rule rule;      /* default ASR_FUSION_SUM; has no effect with one model */
  uint32_t n_models;         /* 1..32 */
  const char *const *models; /* [n_models] names of asr_engine_add_model; "" is the engine's own */
  const float *weights; /* [n_models] 1e-6..1e6, or 0, which leaves the model out; only their ratios matter. NULL (default):
                           all are equal */
  uint32_t follow_ms;   /* ASR_FUSION_FOLLOW's time constant, 10..600000; 0 (default) = 1000 */
  uint32_t select_ms;   /* length of speech after which ASR_FUSION_SELECT decides, 10..600000; 0 (default) = 1000 */
} asr_fusion;

/* Fills *fusion with the defaults and its size. */
ASR_API void asr_fusion_default(asr_fusion *fusion);

typedef struct asr_stream_config {
  size_t size;
  asr_input input;              /* default ASR_INPUT_INT16 */
  uint32_t sample_rate_hz;      /* rate of the fed audio, 1000..768000; 0 (default) = the model's */
  uint32_t n_channels;          /* interleaved channels of the fed audio, 1..64; default 1 */
  int32_t channel;              /* the channel to recognise, from 0; -1 (default) = the mean of all */
  asr_cmn cmn;                  /* default ASR_CMN_MODEL */
  float vtln_warp;              /* warp of the frequency axis, 0.8..1.25; 1 (default) = none, or the speaker's */
  float beam;                   /* natural-log width of the search, > 0; 0 (default) = the bundle's */
  float acoustic_scale;         /* factor on log-likelihoods, > 0; 0 (default) = the bundle's */
  float word_insertion_cost;    /* added to the cost of every word; NaN (default) = the bundle's */
  uint32_t max_active;          /* maximum number of tokens kept per frame; 0 (default) = the bundle's */
  uint32_t min_active;          /* minimum number of tokens kept per frame, if there are as many; default 200 */
  uint32_t partial_interval_ms; /* audio time between PARTIALs; 0 (default) = none. They need a running mean, so that
                                   ASR_CMN_MODEL becomes ASR_CMN_LIVE, and with ASR_CMN_BATCH none comes before asr_finish */
  uint32_t max_backlog_ms;      /* asr_feed blocks while the unprocessed audio is longer; 0 = never; default 30000. Batch
                                   normalisation keeps an utterance's cepstra until its end, 5 kB a second, unless the mean
                                   was measured before (ASR_CMN_MEASURE) */
  asr_event_fn callback;        /* NULL (default): events are polled */
  void *user_data;              /* passed to the callback */
  float lattice_beam;           /* > 0: FINALs carry a lattice of this width (natural log; 6..10 is usual) and confidences;
                                   0 (default) = neither. ASR_UNSUPPORTED if the device makes no lattices */
  uint32_t n_best;              /* maximum number of alternatives in FINALs, 0..10000; default 1. More than 1 needs a
                                   lattice_beam > 0, and the lattice limits their number */
  /* The following members are all since 0.2.0, unless they say otherwise. */
  asr_endpoint endpoint; /* default ASR_ENDPOINT_OFF. Other values need a running mean: ASR_CMN_MODEL becomes
                            ASR_CMN_LIVE if the model asks for ASR_CMN_BATCH */
  /* Silence at the end of the best path after which the utterance ends, 100..600000 ms; 0 (default) = the preset's value. No
   * effect without a preset. Silence is audio that the model's filler phones match. */
  uint32_t silence_at_end_ms;        /* after words, if the graph's sentence may well end here */
  uint32_t silence_after_words_ms;   /* after any words */
  uint32_t silence_without_words_ms; /* before any word; the utterance is then dropped without events */
  uint32_t longest_utterance_ms; /* maximum length of an utterance, 100..600000; 0 (default) = the preset's. From 0.7 of it on
                                    100 ms of silence are enough */
  uint32_t reserved;             /* 0 */
  asr_vad vad;                   /* with an endpoint; default ASR_VAD_DEFAULT */
  uint32_t pre_roll_ms;          /* how much audio before its first sound belongs to an utterance, 20..5000; 0 (default) = 300.
                                    No effect without the detector */
  const char *graph;             /* graph of the first utterance; NULL or "" (default) = the bundle's own */
  uint32_t early_endpoint_ms;    /* silence after words, shorter than the endpoint's, after which
                                    ASR_EVENT_PROBABLY_FINISHED comes, 100..600000; 0 (default) = no such event. No effect
                                    without an endpoint */
  float reject_threshold;    /* FINALs with a higher asr_event_out_of_grammar have ASR_FLAG_REJECTED; 0..1. 0 (default) = the
                                graph's, which is 0.5 for grammars and word lists, and off for language models and for bundles
                                made without a background (docs/rejection.md). Below 0: off, and there is no score. With a
                                graph of keywords: those whose confidence is below 1 minus this are left out; 0: each has
                                the threshold of its list (docs/keywords.md) */
  asr_speaker *speaker;      /* who speaks; the caller keeps the handle. NULL (default) = unknown. Not with
                                ASR_INPUT_LOGLIKES */
  asr_adaptation adaptation; /* default ASR_ADAPTATION_ON_CALL */
  uint32_t reserved2;        /* 0 */
  const asr_fusion *fusion;  /* acoustic models in place of the engine's own; the struct stays the caller's. NULL (default) =
                                the engine's own. Not with a speaker, nor with ASR_INPUT_LOGLIKES; with ASR_INPUT_FEATURES
                                only models with the front end of the engine's own */
  uint32_t max_utterance_s;  /* since 0.3.0. Maximum length of an utterance in seconds, 1..10000000; 0 (default) = 86400, a
                                day. Audio beyond it is not taken: asr_feed fails, and the results of what was fed before
                                follow as after asr_finish. No effect with an endpoint, which has longest_utterance_ms */
  uint32_t reserved3;        /* 0 */
  uint32_t no_input_ms; /* since 0.3.0. With an endpoint, audio without words after which ASR_EVENT_NO_INPUT comes, 100..600000;
                           0 (default) = no such event */
  uint32_t idle_ms;     /* since 0.3.0. With an endpoint, time without a call of asr_feed after which the utterance ends as by
                           asr_end_utterance, 100..600000; 0 (default) = a stream that is fed nothing waits for ever. It is
                           measured by the system's monotonic clock, unlike all other times, which are those of the audio */
  /* For ASR_INPUT_LOGLIKES of models of tokens (docs/ctc.md). Since 0.3.0. */
  float blank_penalty; /* subtracted from the log-likelihoods of the blank; NaN (default) = the bundle's */
  float prior_scale;   /* share of the tokens' log priors that is subtracted, 0..100; NaN (default) = the bundle's */
  float blank_skip; /* probability of the blank, 0..1, beyond which only the first of several frames is searched; 0 (default) =
                       all are. The rows must be log posteriors. Not with an endpoint */
  uint32_t allow_unknown_boosts; /* since 0.3.0. 0 (default): asr_boost refuses phrases with words that the graph lacks. 1: it
                                    leaves them out, and they are logged */
  /* Since 0.3.0. Default ASR_OUTPUT_WORDS. The others need no graph, search nothing and ignore the search's members. Such a
   * stream is one utterance, without endpoint, lattice_beam and partial_interval_ms. Its input is audio or features, and cmn
   * is none but ASR_CMN_MEASURE; ASR_CMN_LIVE gives rows while audio is fed. A speaker's warp and transforms apply, but nothing
   * is learned. Log-likelihoods may be those of a fusion by ASR_FUSION_SUM, LOG_SUM or MAX. */
  asr_output output;
  asr_memory
      rows_memory;    /* since 0.3.0. Where the rows of ASR_INPUT_LOGLIKES are: other than ASR_MEMORY_HOST (default), that
                         of the engine's device (asr_engine_get_memory), and the stream is fed by asr_feed_device alone. Not
                         with blank_skip, nor on an engine with a fallback; with an endpoint only if there is a lattice_beam */
} asr_stream_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_stream_config_default(asr_stream_config *config);

/* Opens a stream on the engine.
 *
 * config: NULL for the defaults.
 * stream: receives the stream, which the caller closes with asr_close.
 *
 * Errors: ASR_INVALID_ARGUMENT (says which field, and its range; a speaker of another acoustic model), ASR_NOT_FOUND (the
 *   engine has no such graph or model), ASR_UNSUPPORTED (such as a lattice_beam on a device without lattices),
 *   ASR_DEVICE_LOST (an earlier stream lost the device, and no fallback took over: load the engine again). */
ASR_API asr_status asr_open(asr_engine *engine, const asr_stream_config *config, asr_stream **stream);

/* Gets the state of a stream's normalisation, which has learned the mean of the speaker, the microphone and the level. A
 * later stream that starts from it recognises the first words as well as the last ones. Utterances of one stream carry the
 * state over by themselves.
 *
 * bytes, capacity: receives at most 16384 bytes. NULL: only *n_bytes is set.
 * n_bytes: receives the length, which is the same for all streams of an engine.
 *
 * After END the state covers all audio; before, it covers the audio that has been processed so far, which depends on timing.
 * It contains sums and numbers of frames, no audio.
 *
 * Only audio streams with live normalisation have a state: ASR_CMN_LIVE, or ASR_CMN_MODEL where it resolves to live. They
 * have none if the bundle's front_end.cmn_lookahead_frames is 0, or if they fuse models of other front ends than the engine's
 * own. Since 0.3.0 streams with ASR_CMN_MEASURE have one, too: the mean of all their audio, which is complete at END.
 *
 * Errors: ASR_INVALID_ARGUMENT (also if capacity is too small; nothing is written), ASR_INVALID_STATE (the stream has no
 *   state). Since 0.2.0. */
ASR_API asr_status asr_stream_get_state(asr_stream *stream, void *bytes, size_t capacity, size_t *n_bytes);

/* Starts a stream from the state of another. Call it before the first asr_feed.
 *
 * bytes, n_bytes: from asr_stream_get_state. They are valid on every device, on machines of the same byte order, and for
 *   engines whose model has the same cepstra: the front end of senone.json except cmn, dynamic features and transform.
 *
 * The state counts as a few seconds of speech.
 *
 * Since 0.3.0 a stream with ASR_CMN_BATCH takes the state of one with ASR_CMN_MEASURE. It normalises by that mean from its
 * first sample on, so that it keeps no cepstra, and decodes while audio is fed. After the same audio its results are, bit for
 * bit, those of a stream that was given no state. A model that divides by the deviation needs two measurements: the state of
 * the first begins the second (asr_engine_info.n_measurements).
 *
 * Errors: ASR_INVALID_ARGUMENT (no state, a damaged one, one of another front end or of another kind of normalisation, or too
 *   few measurements), ASR_UNSUPPORTED (of a version that this library does not know), ASR_INVALID_STATE (the stream has no
 *   state, or audio was fed). Since 0.2.0. */
ASR_API asr_status asr_stream_set_state(asr_stream *stream, const void *bytes, size_t n_bytes);

/* How far a stream is behind its input. Since 0.3.0. */
typedef struct asr_stream_stats {
  size_t size;       /* set by the caller to sizeof(asr_stream_stats) */
  double fed_s;      /* audio that was fed since asr_open or asr_reset, or rows as time */
  double searched_s; /* how much of it has been searched, or dropped as background. With ASR_CMN_BATCH nothing before
                        asr_finish; after END all */
  double waiting_s;  /* the difference: how far the results lag behind the audio */
} asr_stream_stats;

/* Fills *stats. Cheap, and does not wait for the engine. Since 0.3.0. */
ASR_API asr_status asr_stream_get_stats(const asr_stream *stream, asr_stream_stats *stats);

/* Appends audio, and returns as soon as it is copied. Blocks while the backlog is over max_backlog_ms, except in a callback.
 *
 * samples: in the form of asr_stream_config.input.
 * n: samples of each channel, or rows of features or log-likelihoods; 0 is allowed.
 *
 * The result does not depend on how a signal is cut into calls. Digital silence, which is more than 64 zeros at the model's
 * rate, is replaced by noise of at most one step of 16-bit samples, because no model knows silence without energy.
 *
 * A stream with an output counts rows that were not taken as backlog, too. If a callback takes them, the call blocks; if events
 * are polled, it takes nothing and returns ASR_BUSY (since 0.3.0), because it may be the polling thread's. Since one call
 * is always taken as a whole, feed long recordings in pieces.
 *
 * Errors: ASR_INVALID_ARGUMENT (also for more than 1 TiB), ASR_INVALID_STATE (after asr_finish; or the utterance has reached
 *   max_utterance_s: the stream has taken what fits and ended its input, FINAL and END follow, and asr_finish may be called
 *   or not), ASR_BAD_AUDIO (a sample is not finite; nothing of this call is taken), ASR_OUT_OF_MEMORY (a part of this call
 *   may have been taken, so the stream has failed: ERROR and END follow), or the stream's status. */
ASR_API asr_status asr_feed(asr_stream *stream, const void *samples, size_t n);

/* Ends the current utterance with the audio fed before, like an endpoint, and does not wait for its FINAL.
 *
 * The last few frames, whose features need later audio, belong to the next utterance, or to none if asr_finish follows
 * without further audio.
 *
 * Errors: ASR_INVALID_STATE (the stream has no endpoints, or was finished), or the stream's status. Since 0.2.0. */
ASR_API asr_status asr_end_utterance(asr_stream *stream);

/* Appends audio like asr_feed, but never blocks: it takes all n samples, or none while the backlog is over max_backlog_ms or
 * another thread feeds the stream.
 *
 * Errors: ASR_BUSY (nothing was taken; call again later), and those of asr_feed. Since 0.2.0. */
ASR_API asr_status asr_try_feed(asr_stream *stream, const void *samples, size_t n);

typedef enum asr_value_type { ASR_VALUE_FLOAT32 = 0, ASR_VALUE_FLOAT16 = 1, ASR_VALUE_BFLOAT16 = 2 } asr_value_type;

/* Rows of log-likelihoods for asr_feed_device. Since 0.3.0. */
typedef struct asr_device_rows {
  size_t size;
  asr_memory memory;   /* default ASR_MEMORY_HOST */
  asr_value_type type; /* default ASR_VALUE_FLOAT32 */
  const void *rows;    /* address of the first value, on the host or in CUDA's memory; of OpenCL the cl_mem */
  uint64_t offset;     /* bytes from there to the first value; default 0 */
  uint64_t stride;     /* values from the beginning of a row to that of the next; 0 (default) = a row's, nothing is between */
  /* When the rows are complete; NULL (default) = they are. Not for rows on the host. */
  void *event;  /* a cudaEvent_t, or a cl_event of a queue that was flushed: once it has happened */
  void *stream; /* CUDA only, a cudaStream_t, such as cudaStreamLegacy: once all work in it is done */
  /* Called once for each call with these rows, also if it fails: the library does not read them any more. NULL (default): the
   * caller knows by END. On the calling thread or on one of the library's, whose streams wait: it must be quick, and must not
   * call the library. */
  void (*release)(void *user);
  void *user;
} asr_device_rows;

/* Fills *rows with the defaults and its size. */
ASR_API void asr_device_rows_default(asr_device_rows *rows);

/* Appends rows of log-likelihoods to a stream of ASR_INPUT_LOGLIKES, from memory of the engine's device: they are not copied to
 * the host, nor to a buffer of their own. Waits for the producer (`event`, `stream`), and while the backlog is over
 * max_backlog_ms, except in a callback. The engine's device reads the rows when it searches them.
 *
 * rows: in asr_stream_config.rows_memory. The struct may change after return. The memory that it describes stays the caller's
 *   and must neither change nor be freed before `release` is called, which may be after asr_close; `event` and `stream` may go
 *   after return. Rows on the host are copied before the call returns, on every engine.
 * n: rows, of asr_engine_info.n_states values each (tokens of the network, docs/ctc.md); 0 is allowed.
 *
 * Values are checked when they are read: NaN, +infinity, and a row of -infinity alone end the stream with an ERROR of
 * ASR_BAD_AUDIO that names the frame, as asr_feed's message does.
 *
 * Errors: ASR_INVALID_ARGUMENT (another memory than the stream's, memory of another device or context, a buffer that is too
 *   small), ASR_DEVICE_LOST (the producer failed), and those of asr_feed. Since 0.3.0. */
ASR_API asr_status asr_feed_device(asr_stream *stream, const asr_device_rows *rows, size_t n);

/* The device whose memory rows may be in. */
typedef struct asr_engine_memory {
  size_t size;            /* set by the caller to sizeof(asr_engine_memory) */
  asr_memory memory;      /* ASR_MEMORY_HOST: rows of a device cannot be fed */
  uint32_t ordinal;       /* CUDA: the device's number in this process */
  unsigned char uuid[16]; /* CUDA: as in cudaDeviceProp; else zeros */
  void *context;          /* OpenCL: the cl_context in which buffers and queues are to be made. It belongs to the engine:
                             retain it to use it longer. NULL otherwise */
  void *device;           /* OpenCL: its cl_device_id */
} asr_engine_memory;

/* Fills *memory. Since 0.3.0. */
ASR_API asr_status asr_engine_get_memory(const asr_engine *engine, asr_engine_memory *memory);

/* Drops the current utterance and all audio fed before: for barge-in, or for a prompt that was recognised as speech. Later
 * audio belongs to the next utterance; the clock and the means run on. Does not block.
 *
 * If SPEECH_START has come, ENDPOINT follows and a FINAL without words and with ASR_FLAG_CANCELLED; otherwise there are no
 * events. A FINAL that was posted before may still be taken. Without a current utterance only the audio is dropped.
 *
 * Errors: ASR_INVALID_STATE (the stream has no endpoints, or was finished), or the stream's status. Since 0.2.0. */
ASR_API asr_status asr_cancel_utterance(asr_stream *stream);

/* Begins the stream anew with the same configuration, as after asr_open: clock, means, utterances. Also after asr_finish,
 * asr_cancel, END or ERROR, and also in the stream's own callback.
 *
 * Unfinished audio and pending events are dropped, and the next event is READY. Takes microseconds and does not block: a
 * running callback goes on, and the next one comes after it. A blocked feed in another thread returns ASR_CANCELLED; an
 * asr_wait goes on with the new events.
 *
 * Errors: ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY; the stream is then unchanged. Since 0.2.0. */
ASR_API asr_status asr_reset(asr_stream *stream);

/* Chooses the graph of the stream's next utterance and of later ones. Does not block.
 *
 * name: NULL or "" is the bundle's own. An utterance uses the graph that has the name when the utterance begins. Where the
 *   stream's config leaves beam, acoustic_scale, word_insertion_cost or max_active to the bundle, the graph's values apply.
 *
 * The call marks a position in the audio, so that its effect does not depend on when that is decoded. With endpoints the next
 * utterance is the first whose sound (without the detector: whose first frame) was fed after the call. An utterance that
 * began before keeps its graph if its SPEECH_START has come, or if it comes once all frames fed before the call are decoded,
 * because there are words on the best path. Otherwise it is dropped at that frame, without events, and the next one begins
 * there. Without endpoints the call must come before the first asr_feed or after asr_reset, which restores the graph of the
 * config.
 *
 * After asr_finish no audio follows that the call could concern. In a stream with endpoints it then has no effect and returns
 * ASR_OK (since 0.3.0), so that the callback of a FINAL need not know whether another thread has finished the stream.
 *
 * Errors: ASR_NOT_FOUND (the engine has no such graph now), ASR_INVALID_STATE (audio was fed already, or the stream was
 *   finished, without endpoints), or the stream's status. Since 0.2.0. */
ASR_API asr_status asr_set_graph(asr_stream *stream, const char *name);

/* Boosts phrases in one utterance, for example the names in the user's address book. Does not block, but looks words up: some
 * milliseconds for thousands of phrases, and at the first call for a graph some 50 ms for a hundred thousand words.
 *
 * text, n_bytes: UTF-8, a phrase on each line, with words of the graph. Since 0.3.0 they may be written in another case or
 *   normal form of Unicode: a word that the graph has as it is written is that one, else the first that differs in its form
 *   alone, else the first that differs in case. Lines whose first word begins with '#' are comments. NULL removes all boosts;
 *   otherwise calls add up.
 * bonus: natural log, -1000..1000; 3..8 is usual. Each occurrence of a phrase lowers the graph cost of a path in the
 *   utterance's lattice by it. A bonus below 0 makes the phrase less likely. Overlapping occurrences all count.
 *
 * FINAL, its alternatives, confidences and lattice have these costs. A phrase that the lattice does not contain cannot be
 * boosted, so a wider lattice_beam finds more. Partial results, endpoints and the out-of-grammar score do not change, so a
 * FINAL may differ from stable words.
 *
 * The call marks a position in the audio, like asr_set_graph, and applies to the first utterance with a FINAL that ends after
 * the audio fed before the call. It may therefore be made while the utterance is spoken; without endpoints, at any time
 * before asr_finish. A cancelled utterance leaves its boosts to the next one. Words are those of the graph that the stream has
 * chosen before the call; if the utterance has another one, phrases with words that it lacks are left out and logged.
 *
 * Errors: ASR_NOT_FOUND (since 0.3.0: words that the graph lacks, which the error message lists; nothing is boosted by the
 *   call. See asr_stream_config.allow_unknown_boosts), ASR_INVALID_STATE (the stream makes no lattices; finished),
 *   ASR_UNSUPPORTED (over 1 MiB would wait), or the stream's status. Since 0.2.0. */
ASR_API asr_status asr_boost(asr_stream *stream, const char *text, size_t n_bytes, float bonus);

/* Declares the audio complete, and does not wait for the FINAL and END that follow.
 *
 * Errors: ASR_INVALID_STATE (a second call), ASR_OUT_OF_MEMORY (the stream has failed: ERROR and END follow), or the stream's
 *   status. */
ASR_API asr_status asr_finish(asr_stream *stream);

/* Stops work on the stream as soon as possible, without blocking. An ERROR with ASR_CANCELLED and END follow, and a blocked
 * feed returns ASR_CANCELLED. After END it has no effect. */
ASR_API asr_status asr_cancel(asr_stream *stream);

/* Takes the next event without waiting.
 *
 * event: receives the event, which the caller frees with asr_event_free, or NULL if none is available.
 *
 * Errors: ASR_INVALID_STATE (the stream has a callback, which gets its events). */
ASR_API asr_status asr_result(asr_stream *stream, asr_event **event);

/* Waits until asr_result has an event, or, with a callback, until END has been delivered. Returns at once if that is so
 * already.
 *
 * timeout_ms: maximum time to wait; below 0 there is no limit.
 *
 * Errors: ASR_TIMEOUT, ASR_INVALID_STATE. The latter has three causes: the stream's own callback called; a callback for which
 *   this stream's callback waits, directly or through others, called without a timeout; or events are polled, END has been
 *   taken, and no event can follow. */
ASR_API asr_status asr_wait(asr_stream *stream, int32_t timeout_ms);

/* Ends the stream, finished or not: waits for a running callback, discards pending events, and frees everything. Work on the
 * stream's results is stopped and not waited for. NULL is allowed.
 *
 * In the stream's own callback it only logs an error. If callbacks close each other's streams, so that they would wait for
 * each other, the last of these calls does not wait. That stream's callback may then still run when the call returns, and
 * must no longer use its stream. */
ASR_API void asr_close(asr_stream *stream);

/* ---- events ------------------------------------------------------------------------------------------------------- */

typedef enum asr_event_kind {
  ASR_EVENT_READY = 1,        /* the stream accepts audio */
  ASR_EVENT_SPEECH_START = 2, /* audio has begun */
  ASR_EVENT_PARTIAL = 3,      /* the best words so far; they may still change */
  ASR_EVENT_ENDPOINT = 4,     /* the utterance is complete; FINAL follows */
  ASR_EVENT_FINAL = 5,        /* the words of the utterance */
  ASR_EVENT_ERROR = 6,        /* the stream has failed: see asr_event_status and asr_event_text */
  ASR_EVENT_END = 7,          /* no event follows */
  /* Since 0.2.0, for streams with an early_endpoint_ms, between SPEECH_START and ENDPOINT. */
  ASR_EVENT_PROBABLY_FINISHED = 8, /* the silence after the last word has that length: an ENDPOINT is near, unless speech
                                      resumes. Has the words so far, like a PARTIAL. Comes once, and again after
                                      SPEECH_RESUMED */
  ASR_EVENT_SPEECH_RESUMED = 9,    /* takes the last PROBABLY_FINISHED back: speech resumed before the ENDPOINT */
  /* Since 0.3.0, for streams with a no_input_ms, between utterances: so much audio without words has passed since the stream
   * began, the last utterance ended, asr_cancel_utterance was called, or since the last NO_INPUT. */
  ASR_EVENT_NO_INPUT = 10,
  /* Since 0.3.0, for streams with an output: the next rows. See asr_event_rows. */
  ASR_EVENT_ROWS = 11
} asr_event_kind;

/* Flags of PARTIAL and FINAL events. */
#define ASR_FLAG_NOT_FINAL_STATE 1u /* no final state of the graph was reached: the words may stop within a sentence */
#define ASR_FLAG_BEAM_DIED 2u       /* no path survived to the end of the audio: the words end where the search did */
#define ASR_FLAG_NO_SPEECH 4u       /* the audio was too short for one frame, or held no words */
/* The whole lattice would have taken too much time or memory, so it is narrower than lattice_beam; asr_lattice.beam has its
 * width. Since 0.2.0. */
#define ASR_FLAG_BEAM_NARROWED 8u
#define ASR_FLAG_FELL_BACK 16u /* since 0.2.0: the device was lost, and asr_engine_config.fallback decoded this */
#define ASR_FLAG_CANCELLED 32u /* since 0.2.0: asr_cancel_utterance dropped the utterance: no words, no lattice */

/* Since 0.2.0: the speech is probably not in the grammar and the words are wrong, because asr_event_out_of_grammar is above
 * asr_stream_config.reject_threshold. The event still has the words. */
#define ASR_FLAG_REJECTED 64u

/* Since 0.3.0, of FINAL: longest_utterance_ms has cut the utterance, and what was being said goes on in the next one. The cut
 * is at the end of the last word that all paths share (docs/endpoints.md has exceptions), so that no word is split. */
#define ASR_FLAG_CUT 128u

typedef struct asr_word {
  size_t size;      /* set by the caller to sizeof(asr_word) */
  const char *text; /* owned by the event */
  double start_s;   /* in seconds from the first sample fed */
  double end_s;
  float confidence; /* 0..1: share of the lattice with this word here, times the probability that its sound is in the grammar
                       if the stream compares (docs/rejection.md); -1 without a lattice and in PARTIAL. Of a keyword it is
                       that of the keyword, always (docs/keywords.md) */
  uint32_t word_id; /* number in words.txt */
  /* Labels of the grammar (docs/grammars.md), owned by the event, and "" if the grammar has none. Since 0.2.0 */
  const char *rule; /* the public rule of the sentence; with a graph of keywords the keyword (docs/keywords.md) */
  const char *tags; /* the word's tags, joined by '\n' */
} asr_word;

/* An event never changes, so that any number of threads may read it. All functions that read one take NULL, and then return
 * 0, "" or ASR_INVALID_ARGUMENT. */

/* Returns the kind. */
ASR_API asr_event_kind asr_event_get_kind(const asr_event *event);

/* Returns the status of an ERROR; ASR_OK for all other kinds. */
ASR_API asr_status asr_event_status(const asr_event *event);

/* Returns the flags, bits of ASR_FLAG_*. */
ASR_API uint32_t asr_event_flags(const asr_event *event);

/* Returns the event's position in the audio, in seconds from the first sample. */
ASR_API double asr_event_time_s(const asr_event *event);

/* Returns the words joined by blanks, the message of an ERROR, or "". Owned by the event. */
ASR_API const char *asr_event_text(const asr_event *event);

/* Returns the number of alternatives: 1 to n_best in FINAL, and fewer than there could be if they would take over 256 MiB; 1
 * in PARTIAL and PROBABLY_FINISHED; 0 for kinds without words. The best comes first, and no two have the same word_ids. */
ASR_API size_t asr_event_n_alternatives(const asr_event *event);

/* Returns the words of an alternative joined by blanks; "" if there is none. Owned by the event. */
ASR_API const char *asr_event_alternative_text(const asr_event *event, size_t alternative);

/* Gets the costs of an alternative, negated natural logarithms. The best one has the least
 * graph_cost + acoustic_scale * acoustic_cost.
 *
 * graph_cost: receives the cost in the graph, word insertions and the cost of ending included. NULL is allowed.
 * acoustic_cost: receives the acoustic cost, not scaled. NULL is allowed. With a speaker's transform it is the cost of the
 *   transformed rows, which cannot be compared with that of others. */
ASR_API asr_status asr_event_alternative_costs(const asr_event *event, size_t alternative, double *graph_cost,
                                               double *acoustic_cost);

/* Returns the public rule of an alternative's words; "" if the grammar has none. Alternatives with the same words may differ
 * in rule and tags. Owned by the event. Since 0.2.0. */
ASR_API const char *asr_event_rule(const asr_event *event, size_t alternative);

/* Returns the tags of an alternative's words, joined by '\n'; "" if the grammar has none. Owned by the event. Since 0.2.0. */
ASR_API const char *asr_event_tags(const asr_event *event, size_t alternative);

/* Returns the number of words of an alternative; 0 if there is none. */
ASR_API size_t asr_event_n_words(const asr_event *event, size_t alternative);

/* Fills *word with word `index` of an alternative. */
ASR_API asr_status asr_event_word(const asr_event *event, size_t alternative, size_t index, asr_word *word);

/* Returns how many of the first words of alternative 0 are certain: every later event of the utterance that has words begins
 * with them, at the same times. They are the words that all paths share which the search still follows. The number never
 * falls within an utterance, and in FINAL it counts all words. In PARTIAL it is 0 if a third-party back end does not support
 * it.
 *
 * A FINAL with a lattice has the lattice's times, and among words of exactly equal cost the lattice's. Certainty does not
 * cover words that asr_cancel_utterance drops or asr_boost changes, words that a fallback decodes again (ASR_FLAG_FELL_BACK),
 * or a lattice without enough memory (ASR_FLAG_BEAM_NARROWED). Since 0.2.0. */
ASR_API size_t asr_event_n_stable_words(const asr_event *event);

/* Returns the probability, 0..1, that the speech is not in the grammar: the words, each one and all together, are compared with
 * any phones in any order. Since 0.3.0 PARTIAL and PROBABLY_FINISHED have it, too, for the speech so far and within the first
 * minute of an utterance. -1 if unknown: in other events, without words, and if the stream does not compare
 * (asr_stream_config.reject_threshold). Since 0.2.0. */
ASR_API float asr_event_out_of_grammar(const asr_event *event);

/* The lattice of a FINAL has every word sequence that costs at most `beam` more than the best. Each is exactly one path, with
 * the costs and times of its best alignment, and every arc lies on such a path. Arcs of several paths may also form paths
 * that cost more, which alternatives leave out.
 *
 * A path begins in state 0, follows arcs, each of them a word, and ends in a state whose end costs are finite. Its cost is
 * the sum over its arcs, and over that end, of graph_cost + acoustic_scale * acoustic_cost; costs are negated natural
 * logarithms. Arcs are grouped by state, in the order of the states, and lead to higher-numbered states. On one device equal
 * audio and settings give the same lattice, bit for bit, however the audio is cut into calls and whatever else the engine
 * does.
 *
 * A posterior is the share of a path, an arc or an end in all paths of the lattice, each weighted by exp(-cost). The times of
 * arcs are those of the graph's labels, which may differ by some frames from the sound of the word; asr_word has the times of
 * the words themselves. Transition-ids identify the transitions of the model's HMMs in each frame (docs/graph-file.md). */
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

/* Fills *lattice. The event owns its arrays and strings, which are valid until it is freed.
 *
 * Errors: ASR_NOT_FOUND (not a FINAL event, or its stream had no lattice_beam). Since 0.2.0. */
ASR_API asr_status asr_event_lattice(const asr_event *event, asr_lattice *lattice);

/* Rows of a stream with an output: consecutive frames, each event's after those of the event before. */
typedef struct asr_rows {
  size_t size;          /* set by the caller to sizeof(asr_rows) */
  const float *values;  /* [n_rows][n_values] */
  uint32_t n_rows;      /* at least 1; how many come at a time depends on timing */
  uint32_t n_values;    /* ASR_OUTPUT_FEATURES: asr_engine_info.n_feature_dims. ASR_OUTPUT_LOGLIKES: n_states */
  uint64_t first_frame; /* number of the first row's frame; frame t begins t * frame_shift_ms after the first sample */
} asr_rows;

/* Fills *rows with the rows of a ROWS event, which owns the values; they are valid until it is freed.
 *
 * Log-likelihoods are natural logarithms of the density of a row given a senone, and not scaled. Column i is that of pdf i:
 * of pdf-id i of a model of Kaldi, of senone i of CMU Sphinx, and of tied state i in the order of hmms.bin for others. On one
 * device equal audio and settings give the same values, bit for bit, however the audio is cut into calls and whatever else
 * the engine does.
 *
 * Errors: ASR_NOT_FOUND (an event of another kind). Since 0.3.0. */
ASR_API asr_status asr_event_rows(const asr_event *event, asr_rows *rows);

/* Frees an event, which may outlive its stream and engine. NULL is allowed. */
ASR_API void asr_event_free(asr_event *event);

/* ---- recordings --------------------------------------------------------------------------------------------------- */

/* A decoder of recordings: bytes in, as they come from a file, a pipe or a socket, and samples for a stream of
 * ASR_INPUT_FLOAT out. It reads WAV (RIFF, RIFX, RF64) and AU of integers, floats and G.711, and samples without a header.
 * docs/audio.md lists the formats and says what becomes of headers that are wrong. The samples do not depend on the pieces in
 * which bytes are pushed. Any thread may use a decoder, but calls for one decoder must not overlap. All since 0.3.0.
 *
 *   asr_audio_open(NULL, &audio);
 *   while (n_bytes = ...) { asr_audio_push(audio, bytes, n_bytes); while (asr_audio_read(...), n > 0) asr_feed(...); }
 *   asr_audio_finish(audio); ... asr_audio_read as above ... asr_audio_close(audio); */
typedef struct asr_audio asr_audio;

typedef enum asr_audio_format {
  ASR_AUDIO_FILE = 0,          /* WAV or AU */
  ASR_AUDIO_FILE_OR_S16LE = 1, /* the same, or ASR_AUDIO_S16LE if it begins like no known file */
  /* Samples without a header, interleaved; nothing is guessed. */
  ASR_AUDIO_S16LE = 2, /* 16 bits, little-endian */
  ASR_AUDIO_S16BE = 3, /* 16 bits, big-endian */
  ASR_AUDIO_F32LE = 4, /* float, little-endian, full scale -1..1 */
  ASR_AUDIO_ULAW = 5,  /* G.711 */
  ASR_AUDIO_ALAW = 6
} asr_audio_format;

#define ASR_AUDIO_MIX (-1) /* the mean of all channels, or one of them, with a warning, if they cancel each other */
#define ASR_AUDIO_ALL (-2) /* all channels, interleaved */

typedef struct asr_audio_config {
  size_t size;
  asr_audio_format format; /* default ASR_AUDIO_FILE */
  uint32_t sample_rate_hz; /* of samples without a header, 1000..768000; default 16000 */
  uint32_t n_channels;     /* of samples without a header, 1..64; default 1 */
  int32_t channel;         /* the channel to decode, from 0, ASR_AUDIO_MIX (default) or ASR_AUDIO_ALL */
} asr_audio_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_audio_config_default(asr_audio_config *config);

typedef struct asr_audio_info {
  size_t size;             /* set by the caller to sizeof(asr_audio_info) */
  const char *format_name; /* "WAV", "FLAC", ...; "" for samples without a header, or not known yet. A constant */
  uint32_t is_known;       /* 1: the header has been read, and the following are known */
  uint32_t has_header;     /* 1: a file; 0: samples without a header */
  uint32_t sample_rate_hz;
  uint32_t n_channels;      /* of the recording */
  uint32_t n_out_channels;  /* of the decoded samples: 1, or n_channels with ASR_AUDIO_ALL */
  uint32_t n_bits;          /* of a sample of one channel */
  uint32_t is_float;        /* 1: floats; 0: integers or G.711 */
  uint32_t is_other;        /* 1: it was refused, but another library, such as libsndfile, may read it */
  uint64_t n_missing_bytes; /* bytes that the header announces and the finished input lacks */
} asr_audio_info;

/* Makes a decoder.
 *
 * config: NULL for the defaults.
 * audio: receives the decoder, which the caller frees with asr_audio_close.
 *
 * Errors: ASR_UNSUPPORTED. */
ASR_API asr_status asr_audio_open(const asr_audio_config *config, asr_audio **audio);

/* Takes the next n_bytes bytes. Their samples wait in memory until asr_audio_read. After an error nothing more is decoded.
 *
 * Errors: ASR_UNSUPPORTED (a format that is not decoded: asr_last_error names it and the remedy), ASR_BAD_FILE (a header that
 *   cannot be right), ASR_INVALID_ARGUMENT (also a channel that the recording lacks), ASR_INVALID_STATE (finished). */
ASR_API asr_status asr_audio_push(asr_audio *audio, const void *bytes, size_t n_bytes);

/* Declares the bytes complete, so that the last samples can be read.
 *
 * Errors: as asr_audio_push. */
ASR_API asr_status asr_audio_finish(asr_audio *audio);

/* Reads decoded samples.
 *
 * samples: receives samples[n][n_out_channels], full scale -1..1.
 * n: maximum number of samples of each channel.
 * n_read: receives the number that was written; 0 if none is ready. */
ASR_API asr_status asr_audio_read(asr_audio *audio, float *samples, size_t n, size_t *n_read);

/* Fills *info with what is known so far. */
ASR_API asr_status asr_audio_get_info(const asr_audio *audio, asr_audio_info *info);

/* Returns the next warning, such as "is cut short: ...", whose subject is the recording; NULL if there is none. Most come
 * with asr_audio_finish. Valid until the next call for the decoder. */
ASR_API const char *asr_audio_warning(asr_audio *audio);

/* Frees the decoder. NULL is allowed. */
ASR_API void asr_audio_close(asr_audio *audio);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_H */
