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
 *   A stream lives through: open, feed*, finish, events until ASR_EVENT_END, close; before that, asr_reset begins it anew.
 *   Closing an engine with open streams is safe: the engine is reference-counted and goes away with its last stream.
 *
 * EVENTS
 *   What a stream has to say comes as events, in this order:
 *     READY, { SPEECH_START, PARTIAL*, ENDPOINT, FINAL }*, END
 *   and, with an early_endpoint_ms, PROBABLY_FINISHED and SPEECH_RESUMED in turn among the PARTIALs.
 *   An ERROR event may come instead of any of them; END follows it. Events are polled with asr_result or passed to a
 *   callback; both give the same objects with the same contents. Unknown kinds must be ignored: later versions add some.
 *   A PARTIAL that has not been read when the next one comes is replaced by it, and so is one that waits for the callback:
 *   memory does not grow with what is not read. No other event is ever left out.
 *   A stream is one utterance, unless asr_stream_config.endpoint is set: one SPEECH_START with the first audio (or with
 *   asr_finish, if there was none), one ENDPOINT when all audio before asr_finish has been decoded. With endpoints it is as
 *   many as are found; each begins where the one before ends, audio between belongs to the later one, and times run on. There
 *   SPEECH_START comes with the first word, and an utterance without words has no events. An utterance whose search has died
 *   (ASR_FLAG_BEAM_DIED) ends there, too.
 *
 * THREADS
 *   An engine may be used from any threads at once. A stream may be used from any threads too, but calls for one stream
 *   are serialised: two threads feeding one stream is legal and gives an arbitrary interleaving. asr_close must be the
 *   last call of a stream, and not at the same time as another call for it. Callbacks run on threads of the library,
 *   never two at once for a stream; a callback may call any function of its own stream except asr_close, and a slow
 *   callback delays only its own stream. A callback must not throw, longjmp or end its thread. A callback may close other
 *   streams: see asr_close for callbacks that close each other's.
 *   Calls are not cancellation points: pthread_cancel acts on a thread after its call has returned, asr_wait included. A
 *   thread that is to be cancelled while it waits should wait with a timeout, again and again.
 *
 * MEMORY
 *   Every object that a function returns through a pointer to a pointer belongs to the caller and has one function that
 *   frees it; freeing NULL is allowed and freeing cannot fail. Strings and arrays got from an object are the object's
 *   and are valid until it is freed. Strings that the caller passes are copied. All strings are UTF-8.
 *   Where there is no memory, a call returns ASR_OUT_OF_MEMORY, or the streams that needed it end with an ERROR of that
 *   status; other streams go on. Every stream has its ERROR and END from when it was opened, so that it always ends, and
 *   asr_cancel, asr_result, asr_close and everything that frees need no memory. The operating system may end the process
 *   all the same, where it gives out more memory than it has; and so may the C library, where the library or a plugin was
 *   loaded by dlopen and a thread that is new to it finds no memory for its thread-local data.
 *
 * CONFIGURATION
 *   A config struct begins with its size, is filled by its *_default function, and only grows at its end. A smaller size
 *   (an older program) takes defaults for what it lacks; a larger size (a newer program) is accepted if what this library
 *   does not know is zero, and refused with ASR_UNSUPPORTED if not. A size that no version of the struct has, because it is
 *   no multiple of the struct's alignment and might cut a field in half, or over 4096, is refused with ASR_INVALID_ARGUMENT.
 *   The same goes for structs that the library fills. A NULL config means the defaults.
 *
 * ERRORS
 *   Functions return ASR_OK (0) or a negative asr_status. asr_last_error gives one sentence for the calling thread: what
 *   is wrong, with which file or argument, and what to do. On failure out parameters are untouched.
 *
 * SIDE EFFECTS
 *   The library never writes to stdout or stderr, never aborts or exits, and leaves signals, locale, floating-point modes
 *   and the current directory alone. Loading an engine starts threads and may dlopen back ends from the plugin directory
 *   beside the library (<libdir>/senone/plugins), which then stay loaded, and so does the
 *   library itself after dlclose. Environment variables, read when they are first needed and ignored in setuid programs:
 *     SENONE_PLUGIN_PATH  directories to look in instead, absolute, separated by ':'. A plugin directory that belongs to
 *                         neither root nor the user, or that everybody may write, is skipped, and so is such a plugin;
 *                         asr_devices lists both with the reason
 *     SENONE_PLUGINS      names of the only back ends to use, separated by ',': "cpu" loads no plugin at all
 *     SENONE_DEVICE       the device where the configuration names none
 *     XDG_RUNTIME_DIR     a directory of the user's own, which nobody else may write: in it, or else in /dev/shm, is the
 *                         directory by which processes of the user find and share their copies of a graph; it is made
 *                         when the first graph is loaded
 *   After fork, the child must not use engines, streams or lists of its parent; it may load engines of its own on the CPU.
 *   GPU drivers do not survive fork: a child uses GPUs only if its parent called neither asr_devices nor asr_engine_load
 *   before (docs/embedding.md).
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
#define ASR_VERSION_MINOR 2
#define ASR_VERSION_PATCH 0

/* ---- status ------------------------------------------------------------------------------------------------------- */

typedef enum asr_status {
  ASR_OK = 0,
  ASR_INVALID_ARGUMENT = -1, /* a NULL or out-of-range argument */
  ASR_INVALID_STATE = -2,    /* a call out of order: feed after finish, close from a callback */
  ASR_NOT_FOUND = -3,        /* a file, a device or a plugin does not exist */
  ASR_BAD_FILE = -4,         /* a file is damaged, truncated or of another format or version */
  ASR_BAD_AUDIO = -5,        /* samples or rows that are not finite */
  ASR_UNSUPPORTED = -6,      /* valid, but not by this version or this back end */
  ASR_NO_DEVICE = -7,        /* no back end, or not the one named, has a usable device */
  ASR_DEVICE_LOST = -8,      /* the device failed while in use; streams on it end, the process goes on */
  ASR_OUT_OF_MEMORY = -9,    /* host or device memory */
  ASR_IO = -10,              /* reading or writing failed: permission, disk full */
  ASR_TIMEOUT = -11,         /* asr_wait's time has passed */
  ASR_CANCELLED = -12,       /* the stream was cancelled */
  ASR_INTERNAL = -13,        /* a defect of the library; please report it with asr_last_error's text */
  ASR_BUSY = -14             /* asr_try_feed would have to wait. Since 0.2.0 */
} asr_status;

/* The name of a status, for example "ASR_BAD_FILE". Static; never NULL, also for unknown values. Any thread. */
ASR_API const char *asr_status_text(asr_status status);

/* One sentence about the last call of this thread that failed; "" if none did. Valid until this thread's next call. */
ASR_API const char *asr_last_error(void);

/* The version of the library that runs, for example "0.2.0". Static. */
ASR_API const char *asr_version(void);

/* ---- log ---------------------------------------------------------------------------------------------------------- */

typedef enum asr_log_level { ASR_LOG_ERROR = 0, ASR_LOG_WARNING = 1, ASR_LOG_INFO = 2, ASR_LOG_DEBUG = 3 } asr_log_level;

/* Receives messages of the whole library: which plugins were tried and why they were rejected, what was loaded.
 * message: one line without a newline, valid during the call. Called from any thread, also from several at once. The library
 * holds no lock then that another call needs, so the function may call the library, except for asr_set_log, and may wait for
 * threads that do. Messages that come of its own calls, on its thread, are not passed to it. */
typedef void (*asr_log_fn)(asr_log_level level, const char *message, void *user_data);

/* Sets the receiver for messages up to `level`; NULL (as at the start) discards them. May be called before anything else
 * and at any time; returns after calls to the old receiver have ended, so its user_data may be freed then.
 * Must not be called from a log function. */
ASR_API void asr_set_log(asr_log_fn log, asr_log_level level, void *user_data);

/* ---- devices ------------------------------------------------------------------------------------------------------ */

typedef struct asr_device_list asr_device_list;

typedef struct asr_device {
  size_t size;           /* set by the caller to sizeof(asr_device) */
  const char *id;        /* "cpu:0", "cuda:1": what asr_engine_config.device takes; for a rejected plugin its name or file */
  const char *name;      /* as its driver calls it: "AMD EPYC 7763", "NVIDIA H200"; "" for a rejected plugin */
  const char *reason;    /* "" if usable, else one sentence saying why not */
  uint64_t memory_bytes; /* memory that models and streams may use; 0 if unknown */
  int32_t score;         /* the highest usable one is chosen where none is named; 0 = not usable */
  uint32_t n_cores;      /* cores or multiprocessors */
} asr_device;

/* Probes every back end and lists their devices, best first, and then every plugin that was rejected, with the reason.
 * The list is the caller's. Errors: ASR_INVALID_ARGUMENT, ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_devices(asr_device_list **list);
ASR_API size_t asr_device_list_count(const asr_device_list *list);
/* Fills *device for index in 0..count-1; its strings are valid until the list is freed. */
ASR_API asr_status asr_device_list_get(const asr_device_list *list, size_t index, asr_device *device);
ASR_API void asr_device_list_free(asr_device_list *list);

/* ---- engine ------------------------------------------------------------------------------------------------------- */

typedef struct asr_engine asr_engine;

typedef struct asr_engine_config {
  size_t size;
  const char *device;     /* "cpu", "cuda:0", ...; NULL or "": SENONE_DEVICE, else the best. A named one is never replaced */
  uint32_t max_lanes;     /* streams that one step advances together, 1..1024; default 8. More streams may be open */
  uint32_t window_frames; /* the most frames a stream advances in a step, 8..256; default 32 */
  uint32_t n_threads;     /* host threads for the CPU back end, 0 (default) = one for each core, at most 256 */
  uint32_t reserved;      /* 0 */
  const char *fallback;   /* since 0.2.0. "cpu": once the device is lost, the CPU decodes its unfinished streams again from
                             their start, and all later streams; nothing is lost and no event comes twice. Costs may differ
                             from the device's in the last digits. Each stream keeps what it was fed until its END: 4 bytes
                             for a sample at the model's rate (230 MB for an hour at 16 kHz) or for a value of a row.
                             NULL or "" (default): none, streams of a lost device end with ASR_DEVICE_LOST */
  uint32_t device_timeout_ms; /* since 0.2.0. A device is lost when a search has not ended after so long; 0 (default) =
                                 60,000. CUDA devices only */
} asr_engine_config;

ASR_API void asr_engine_config_default(asr_engine_config *config);

/* Loads the bundle (a directory made by `senone import` and `senone graph`) on a device. Its files are read, checked and
 * closed; they may change afterwards without disturbing the engine. Takes from milliseconds to seconds. *engine is the
 * caller's, closed with asr_engine_close.
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND (no such bundle, or a part of it), ASR_BAD_FILE (which file, which field),
 * ASR_IO (a part cannot be read, or is no regular file), ASR_NO_DEVICE (which device, and why), ASR_UNSUPPORTED,
 * ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_engine_load(const char *bundle_path, const asr_engine_config *config, asr_engine **engine);

typedef struct asr_engine_info {
  size_t size;           /* set by the caller to sizeof(asr_engine_info) */
  const char *device_id; /* the device it was loaded on; this and all strings here are the engine's */
  const char *device_name;
  double sample_rate_hz; /* the model's; streams of any other rate are resampled */
  double frame_shift_ms;
  uint32_t n_feature_dims; /* D: the row length of ASR_INPUT_FEATURES */
  uint32_t n_states;       /* S: the row length of ASR_INPUT_LOGLIKES */
  uint32_t n_words;        /* word symbols in the graph; this and what follows are of the graph "" */
  uint32_t n_graph_states;
  uint64_t n_graph_arcs;
} asr_engine_info;

/* Fills *info. Errors: ASR_INVALID_ARGUMENT. Any thread. */
ASR_API asr_status asr_engine_get_info(const asr_engine *engine, asr_engine_info *info);

/* Graphs of one acoustic model, each with its words, which streams choose from by name (asr_stream_config.graph,
 * asr_set_graph).
 * "" is the bundle's own, which may be replaced but not removed. docs/grammars.md. All since 0.2.0.
 *
 * asr_engine_add_graph loads the graph of a bundle, with the search settings and filler words of its senone.json, or of a graph
 * archive (`senone graph --archive`); the acoustic model is not loaded again. The graph must have been made for the engine's
 * model: for the same hmms.bin, or, where one of the two lists none, the same acoustic.bin. If a graph has the name, the new
 * one takes its place: utterances under way go on with the old one, which goes away with its last user. If the call fails, all
 * is as it was. asr_engine_add_graph_bytes does the same with the bytes of an archive, which are copied. Both read and check
 * the graph on the calling thread. The engine's own thread then loads it between two steps, which takes microseconds on the
 * CPU; a GPU copies it, and streams wait for that. As that thread may log, a log function must not wait for a thread that calls
 * them. Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO (as asr_engine_load), ASR_UNSUPPORTED (made for
 * another model), ASR_INVALID_STATE (called in a log function), ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY. Any thread.
 *
 * asr_engine_remove_graph takes the name away. Streams that have chosen it go on with the graph that it had last, until they
 * choose another; it goes away with its last user. Errors: ASR_INVALID_ARGUMENT (also ""), ASR_NOT_FOUND (no graph has the
 * name), ASR_INVALID_STATE (called in a log function). Any thread. */
ASR_API asr_status asr_engine_add_graph(asr_engine *engine, const char *name, const char *bundle_path);
ASR_API asr_status asr_engine_add_graph_bytes(asr_engine *engine, const char *name, const void *bytes, size_t n_bytes);
ASR_API asr_status asr_engine_remove_graph(asr_engine *engine, const char *name);

/* Acoustic models beside the engine's own, for the same states, which streams choose from and fuse by name
 * (asr_stream_config.fusion). "" is the engine's own, which can be neither replaced nor removed. docs/fusion.md. All since
 * 0.2.0.
 *
 * asr_engine_add_model loads the acoustic model and the front end of a bundle; the bundle needs no graph. The model must have
 * as many states as the engine's own, the same sample rate and frame shift, and the same hmms.bin where both bundles list one;
 * everything else may differ. An engine has up to 32 models with its own. If a model has the name, the new one takes its place
 * for streams that are opened later. If the call fails, all is as it was. The bundle is read and checked on the calling thread;
 * the engine's own thread then loads the model between two steps, and streams wait for that. Errors: ASR_INVALID_ARGUMENT (also
 * ""), ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO (as asr_engine_load), ASR_UNSUPPORTED (other states or frames; too many models),
 * ASR_INVALID_STATE (called in a log function), ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY. Any thread.
 *
 * asr_engine_remove_model takes the name away. Streams that have the model keep it, also over asr_reset; it goes away with the
 * last of them. Errors: ASR_INVALID_ARGUMENT (also ""), ASR_NOT_FOUND, ASR_INVALID_STATE (called in a log function). Any
 * thread. */
ASR_API asr_status asr_engine_add_model(asr_engine *engine, const char *name, const char *bundle_path);
ASR_API asr_status asr_engine_remove_model(asr_engine *engine, const char *name);

/* Gives back the caller's hold on the engine. Open streams keep it alive and keep working. NULL is allowed. */
ASR_API void asr_engine_close(asr_engine *engine);

/* ---- speaker ------------------------------------------------------------------------------------------------------ */

/* A speaker whose voice the model is brought closer to: a transform of the feature rows of the speaker's streams (fMLLR) and a
 * warp of their frequency axis (VTLN), estimated from what they have said (docs/adaptation.md). A speaker may have any number
 * of streams, at once or after each other, and may be used with any engine of the same acoustic model. Any threads may use one.
 * All of it since 0.2.0. */
typedef struct asr_speaker asr_speaker;

/* A speaker of whom nothing is known, for asr_stream_config.speaker, who may outlive the engine. Reads the acoustic model again
 * unless the engine has a speaker already; it stays in memory while there is one. Errors: ASR_INVALID_ARGUMENT, ASR_UNSUPPORTED
 * (the model has full covariances, or rows of over 96 values), ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO, ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_speaker_new(asr_engine *engine, asr_speaker **speaker);

/* Estimates the transform anew, from all that came to a FINAL of the speaker's streams before, which at least 1 s of words must
 * have; of an utterance its first ten minutes count. FINALs without words, with ASR_FLAG_REJECTED or ASR_FLAG_BEAM_DIED do not
 * count. Utterances that begin later are transformed. Takes up to some seconds, on the calling thread, which may be one of a
 * callback; which utterances were said decides, not their order. Of more than 200 s, a part is left out. Errors:
 * ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (too little was said), ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_adapt(asr_speaker *speaker);

/* Methods of asr_adapt, bits. Since 0.2.0. */
enum {
  ASR_SPEAKER_FMLLR = 1, /* a transform of the feature rows; what a new speaker has */
  ASR_SPEAKER_VTLN = 2   /* a warp of the frequency axis, as another length of the vocal tract makes: the likeliest of n_warps
                            from 0.80 to 1.20, given what was recognised */
};

/* Sets what asr_adapt estimates. n_warps: 11 or 21; without ASR_SPEAKER_VTLN it is 0. Another number than before begins the
 * search anew. A warp is chosen from streams of audio that are opened later; the first minute of each of their utterances
 * counts, silence included. asr_adapt chooses the warp first. If it is another than before, asr_adapt forgets the rows and the
 * transform, which are of the warp before, and estimates no transform: open new streams, or asr_reset those that there are, and
 * call it again when more was said. Without speech that a warp could be chosen from, the warp stays.
 * ASR_ADAPTATION_BETWEEN_UTTERANCES does not change it. FINALs of such streams come later by up to a few per cent of their
 * audio's length. Errors: ASR_INVALID_ARGUMENT, ASR_UNSUPPORTED (the filter bank is too narrow), ASR_NO_DEVICE,
 * ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_speaker_set_methods(asr_speaker *speaker, uint32_t methods, uint32_t n_warps);

/* The warp that streams of the speaker begin with; 1 at first. A stream keeps it to its end, or asr_reset; while the speaker
 * has another one by then, the stream is neither transformed nor learned from. asr_speaker_set_warp forgets rows and transform
 * where it changes the warp. Errors: ASR_INVALID_ARGUMENT (NULL; not 0.8..1.25), ASR_UNSUPPORTED (the filter bank is too
 * narrow). */
ASR_API asr_status asr_speaker_get_warp(asr_speaker *speaker, float *warp);
ASR_API asr_status asr_speaker_set_warp(asr_speaker *speaker, float warp);

/* The transform y = A x + b, row by row: [n_feature_dims][n_feature_dims + 1], b last in each row; what Kaldi's archives hold.
 * asr_speaker_get_transform sets *n_values, 0 while there is none, and copies them to `values`, which has room for `capacity`;
 * where `values` is NULL it sets the number alone. asr_speaker_set_transform replaces the transform, of utterances that begin
 * later; n_values 0 takes it away. Errors: ASR_INVALID_ARGUMENT (NULL; too little room; another number of values; values that
 * are not finite), ASR_OUT_OF_MEMORY. */
ASR_API asr_status asr_speaker_get_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values);
ASR_API asr_status asr_speaker_set_transform(asr_speaker *speaker, const float *values, size_t n_values);

/* Frees the handle; streams that have the speaker go on with it. NULL is allowed. */
ASR_API void asr_speaker_free(asr_speaker *speaker);

/* ---- stream ------------------------------------------------------------------------------------------------------- */

typedef struct asr_stream asr_stream;
typedef struct asr_event asr_event;

/* Receives the events of a stream, in order. The event is the callback's: it must be freed with asr_event_free, at any
 * time. user_data is the one of the stream's config. A callback may block, and occupies a thread of the library until it
 * returns: an engine has as many threads for callbacks as have run at once, without a limit. */
typedef void (*asr_event_fn)(asr_stream *stream, asr_event *event, void *user_data);

typedef enum asr_input {
  ASR_INPUT_INT16 = 0,    /* samples: const int16_t *, interleaved channels */
  ASR_INPUT_FLOAT = 1,    /* samples: const float *, interleaved channels, full scale -1..1 */
  ASR_INPUT_FEATURES = 2, /* samples: const float *, rows of n_feature_dims, one a frame, after all transforms */
  ASR_INPUT_LOGLIKES = 3  /* samples: const float *, rows of n_states, one a frame: natural log-likelihoods */
} asr_input;

typedef enum asr_cmn {
  ASR_CMN_MODEL = 0, /* what the model's bundle asks for; where that is batch and the stream has endpoints or a
                        partial_interval_ms, live */
  ASR_CMN_LIVE = 1,  /* a running mean, whose level and channel follow what is heard: results come while audio is fed. The first
                        rows wait for the bundle's cmn_lookahead_frames of speech, 0.4 s by default (docs/live.md) */
  ASR_CMN_BATCH = 2, /* the mean of the whole utterance: most exact for files; decoding begins at asr_finish */
  ASR_CMN_NONE = 3
} asr_cmn;

/* Presets of where a stream ends its utterances. Since 0.2.0. */
typedef enum asr_endpoint {
  ASR_ENDPOINT_OFF = 0,       /* the stream is one utterance, which ends with asr_finish */
  ASR_ENDPOINT_COMMAND = 1,   /* soon after a command: 0.3 s of silence where the graph may end, else 0.8 s */
  ASR_ENDPOINT_DICTATION = 2, /* after a sentence: 0.7 s where the graph may end, else 1.5 s */
  ASR_ENDPOINT_CAPTIONS = 3   /* at short pauses: 0.3 s where the graph may end, else 0.5 s, and before 8 s are over */
} asr_endpoint;

/* Whether a stream with endpoints decodes all its audio. Since 0.2.0. */
typedef enum asr_vad {
  ASR_VAD_DEFAULT = 0, /* as ASR_VAD_ON where audio is fed, else as ASR_VAD_OFF */
  ASR_VAD_OFF = 1,     /* background is decoded, too, and may be taken for words */
  ASR_VAD_ON = 2       /* between utterances only what a voice activity detector takes for speech is decoded */
} asr_vad;

/* When a speaker's transform is estimated. Since 0.2.0. */
typedef enum asr_adaptation {
  ASR_ADAPTATION_ON_CALL = 0,            /* by asr_adapt */
  ASR_ADAPTATION_BETWEEN_UTTERANCES = 1, /* also after a FINAL of this stream, once 1 s of words was said and then with every
                                            fifth more; the next utterance waits for it. Needs a speaker and an endpoint */
  ASR_ADAPTATION_OFF = 2                 /* by asr_adapt, but what this stream says is not learned from */
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
  uint32_t sample_rate_hz;      /* of what is fed, 1000..768000; 0 (default) = the model's */
  uint32_t n_channels;          /* interleaved channels in what is fed, 1..64; default 1 */
  int32_t channel;              /* the one to recognise, from 0; -1 (default) = their mean */
  asr_cmn cmn;                  /* default ASR_CMN_MODEL */
  float vtln_warp;              /* warp of the frequency axis, 0.8..1.25; 1 (default) = none, or the speaker's */
  float beam;                   /* natural-log width of the search, > 0; 0 (default) = the bundle's */
  float acoustic_scale;         /* factor on log-likelihoods, > 0; 0 (default) = the bundle's */
  float word_insertion_cost;    /* added to the cost of every word; NaN (default) = the bundle's */
  uint32_t max_active;          /* most tokens kept a frame; 0 (default) = the bundle's */
  uint32_t min_active;          /* fewest tokens kept a frame where there are as many; default 200 */
  uint32_t partial_interval_ms; /* audio time between partial events; 0 = none; default 0. Others need a running mean:
                                   ASR_CMN_MODEL is ASR_CMN_LIVE then, and with ASR_CMN_BATCH none come before asr_finish */
  uint32_t max_backlog_ms;      /* asr_feed waits while more audio than this is not yet worked on; 0 = never waits;
                                   default 30000. Not in batch normalisation, which must keep the utterance */
  asr_event_fn callback;        /* NULL (default): events are polled */
  void *user_data;              /* passed to the callback */
  float lattice_beam;           /* > 0: final events carry a lattice of this width (natural log; 6..10 is usual), and
                                   confidences; 0 (default) = neither. ASR_UNSUPPORTED if the device makes no lattices */
  uint32_t n_best;              /* most alternatives in final events, 0..10000; default 1. More than 1 needs a lattice_beam
                                   > 0, and there are no more than the lattice holds */
  /* Since 0.2.0, all of what follows. Milliseconds, 100..600000, of silence at the end of the best path, where 0 (default) =
   * those of the preset; they mean nothing without one. Silence is what the model's filler phones match. */
  asr_endpoint endpoint;             /* default ASR_ENDPOINT_OFF. Others need a running mean: ASR_CMN_MODEL is ASR_CMN_LIVE then
                                        if the model asks for ASR_CMN_BATCH */
  uint32_t silence_at_end_ms;        /* after words, where the best path may well end the graph's sentence */
  uint32_t silence_after_words_ms;   /* after any words */
  uint32_t silence_without_words_ms; /* before any word; the utterance is then forgotten without events */
  uint32_t longest_utterance_ms;     /* from 0.7 of it on 100 ms of silence are enough; none is longer */
  uint32_t reserved;                 /* 0 */
  asr_vad vad;                       /* with an endpoint; default ASR_VAD_DEFAULT */
  uint32_t pre_roll_ms;              /* audio before the first sound of an utterance that belongs to it, 20..5000; 0 (default) =
                                        300. Means nothing without the detector */
  const char *graph;                 /* of the first utterance; NULL or "" (default) = the bundle's own */
  uint32_t early_endpoint_ms; /* silence after words, shorter than the endpoint's, after which ASR_EVENT_PROBABLY_FINISHED
                                 comes; 100..600000; 0 (default) = it does not. Means nothing without an endpoint */
  float reject_threshold; /* FINAL events whose asr_event_out_of_grammar is above it have ASR_FLAG_REJECTED; 0..1. 0 (default)
                             = the graph's: 0.5 for grammars and word lists, off for language models and for bundles made
                             without a background (docs/rejection.md); below 0 = off: there is no score */
  asr_speaker *speaker;   /* who speaks; the handle stays the caller's. Rows are made on the host then. NULL (default) = nobody
                             who is known. Not with ASR_INPUT_LOGLIKES */
  asr_adaptation adaptation; /* default ASR_ADAPTATION_ON_CALL */
  uint32_t reserved2;        /* 0 */
  const asr_fusion *fusion;  /* acoustic models instead of the engine's own; the struct stays the caller's. Rows are made and
                                scores are fused on the host then. NULL (default) = the engine's own. Not with a speaker nor
                                with ASR_INPUT_LOGLIKES; with ASR_INPUT_FEATURES only models of the own model's front end */
} asr_stream_config;

ASR_API void asr_stream_config_default(asr_stream_config *config);

/* Opens a stream on the engine. Errors: ASR_INVALID_ARGUMENT (which field, and its range; a speaker of another acoustic model),
 * ASR_NOT_FOUND (the engine has no such graph or model), ASR_UNSUPPORTED (such as a lattice_beam on a device without lattices),
 * ASR_OUT_OF_MEMORY, ASR_DEVICE_LOST (an earlier stream lost the device, and no fallback took over: load the engine again). Any
 * thread. */
ASR_API asr_status asr_open(asr_engine *engine, const asr_stream_config *config, asr_stream **stream);

/* What the stream's normalisation has learned of the speaker, the microphone and the level, for a later stream of the same: a
 * mean that is carried over, so that its first words are heard as well as its last ones. Streams of audio with ASR_CMN_LIVE
 * have one (ASR_CMN_MODEL where that comes to live), unless the bundle's front_end.cmn_lookahead_frames is 0 or the stream
 * fuses models of other front ends than the engine's own; others have none: ASR_INVALID_STATE. Utterances of one stream carry
 * it over by themselves.
 *
 * asr_stream_get_state writes *n_bytes bytes, at most 16384, to `bytes`, which has room for `capacity`; where `bytes` is NULL
 * it writes the length alone. The length is the same for all streams of an engine. After END the state is that of all audio;
 * before, of what the stream has come to, which depends on timing. Errors: ASR_INVALID_ARGUMENT (a NULL, or too little room:
 * nothing is written), ASR_INVALID_STATE, ASR_OUT_OF_MEMORY. Any thread.
 *
 * asr_stream_set_state begins the stream with a state; call it before the first asr_feed. The bytes are valid for engines whose
 * model makes cepstra alike (the front end of senone.json but for cmn, dynamic features and transform), on every device, and on
 * machines of the same byte order. They hold sums and numbers of frames, no audio, and count as a few seconds of speech.
 * Errors: ASR_INVALID_ARGUMENT (NULL; no state, a damaged one, or one of another front end), ASR_UNSUPPORTED (a version that
 * this library does not know), ASR_INVALID_STATE (also once audio was fed), ASR_OUT_OF_MEMORY. Any thread. Both since 0.2.0. */
ASR_API asr_status asr_stream_get_state(asr_stream *stream, void *bytes, size_t capacity, size_t *n_bytes);
ASR_API asr_status asr_stream_set_state(asr_stream *stream, const void *bytes, size_t n_bytes);

/* Appends n samples of each channel (or n rows, for features and log-likelihoods) and returns as soon as they are copied;
 * n = 0 is allowed. How a signal is cut into calls never changes the result. Digital silence, zeros for more than 64 samples of
 * the model's rate, is heard as noise of at most one step of 16-bit samples: no model knows silence without energy. Waits while
 * the backlog is over max_backlog_ms, except in a callback. Errors: ASR_INVALID_ARGUMENT (also more than 1 TiB),
 * ASR_INVALID_STATE (after asr_finish), ASR_BAD_AUDIO (a sample is not finite; nothing of this call is taken),
 * ASR_OUT_OF_MEMORY (a part of this call may have been taken, so the stream has failed: ERROR and END follow), or the status of
 * the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_feed(asr_stream *stream, const void *samples, size_t n);

/* Ends the utterance under way with what was fed before, as an endpoint does, but for the last few frames, which features of
 * later audio need: they belong to the next utterance, and to none if asr_finish follows with no audio between. Does not wait
 * for its FINAL. Since 0.2.0. Errors: ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (the stream has no endpoints, or was finished),
 * ASR_OUT_OF_MEMORY, or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_end_utterance(asr_stream *stream);

/* asr_feed that never waits: takes all n samples, or nothing while the backlog is over max_backlog_ms or another thread feeds
 * the stream. Since 0.2.0. Errors: ASR_BUSY (nothing was taken; call again later), and those of asr_feed. Any thread. */
ASR_API asr_status asr_try_feed(asr_stream *stream, const void *samples, size_t n);

/* Drops the utterance under way, with all that was fed before: barge-in, a prompt that was taken for speech. Audio that is fed
 * later belongs to the next utterance; clock and means run on. Does not wait. If SPEECH_START has come, ENDPOINT and a FINAL
 * without words and with ASR_FLAG_CANCELLED follow; else nothing is said of it. A FINAL that was posted before may still be
 * taken. Without an utterance under way it only drops what was fed. Since 0.2.0. Errors: ASR_INVALID_ARGUMENT,
 * ASR_INVALID_STATE (the stream has no endpoints, or was finished), or the status of the ERROR event if the stream has failed.
 * Any thread. */
ASR_API asr_status asr_cancel_utterance(asr_stream *stream);

/* Begins the stream anew, as if it had just been opened with the same configuration: clock, means, utterances; also after
 * asr_finish, asr_cancel, END or ERROR. What was fed and is not finished is dropped, and so are events that were not taken; the
 * next event is READY. Takes microseconds and does not wait: of what came before, only a callback that runs goes on, and the
 * next one comes after it. A feed that waits in another thread returns ASR_CANCELLED; an asr_wait goes on with the events to
 * come. Since 0.2.0. Errors: ASR_INVALID_ARGUMENT, ASR_DEVICE_LOST (as asr_open), ASR_OUT_OF_MEMORY; the stream is then as it
 * was. Any thread, also in the stream's own callback. */
ASR_API asr_status asr_reset(asr_stream *stream);

/* Chooses the graph of the stream's next utterance, and of those after it, by its name; NULL or "" is the bundle's own. What
 * beam, acoustic_scale, word_insertion_cost and max_active the stream's config leaves to the bundle are the graph's. An
 * utterance uses the graph that has the name when the utterance begins. Does not wait. Since 0.2.0.
 *
 * With endpoints the next utterance is the first whose sound (without the detector: whose first frame) was fed after the call.
 * An utterance that began before keeps its graph if its SPEECH_START has come, or comes when all frames fed before the call are
 * decoded, because there are words on the best path. Else it is dropped at that frame, without events, and the next utterance
 * begins there. So the call is a place in the audio: what becomes of it does not depend on when it is decoded.
 * Without endpoints the call must come before the first asr_feed, or after asr_reset, which brings back the graph of the
 * config.
 *
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND (the engine has no such graph now), ASR_INVALID_STATE (fed already without
 * endpoints; finished), ASR_OUT_OF_MEMORY, or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_set_graph(asr_stream *stream, const char *name);

/* Boosts phrases for one utterance: names in the caller's address book, the dish of the day. `text` has n_bytes of UTF-8, a
 * phrase a line, its words as the graph has them; lines whose first word begins with '#' are comments. In the lattice of the
 * utterance every path is cheaper by `bonus` (natural log, -1000..1000; 3..8 is usual; below 0 the phrases become less likely)
 * for each time that it says one, in its graph costs, and the FINAL, its alternatives, confidences and lattice are those of
 * these costs. Phrases that overlap count each. What the lattice does not hold cannot be boosted, so a wider lattice_beam finds
 * more. Partial results, endpoints and the out-of-grammar score do not change; so a FINAL may differ from words that were
 * stable. Calls add up; `text` NULL takes back all. Does not wait. Since 0.2.0.
 *
 * The call is a place in the audio, as asr_set_graph is: it is for the first utterance with a FINAL that ends later than what
 * was fed before the call, so it may be made while the utterance is spoken; without endpoints, at any time before asr_finish.
 * An utterance that is cancelled leaves its boosts to the next one.
 *
 * Errors: ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (the stream makes no lattices; finished), ASR_UNSUPPORTED (over 1 MiB would
 * wait), ASR_OUT_OF_MEMORY, or the status of the ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_boost(asr_stream *stream, const char *text, size_t n_bytes, float bonus);

/* Says that the audio is complete; FINAL and END events follow. Does not wait for them. Errors: ASR_INVALID_ARGUMENT,
 * ASR_INVALID_STATE (a second call), ASR_OUT_OF_MEMORY (the stream has failed: ERROR and END follow), or the status of the
 * ERROR event if the stream has failed. Any thread. */
ASR_API asr_status asr_finish(asr_stream *stream);

/* Stops working on the stream as soon as possible: an ERROR event with ASR_CANCELLED and END follow; a feed that waits
 * returns ASR_CANCELLED. Does not wait. Nothing happens after END. Errors: ASR_INVALID_ARGUMENT. Any thread. */
ASR_API asr_status asr_cancel(asr_stream *stream);

/* Takes the next event, in order, without waiting: *event is the caller's, or NULL if there is none now.
 * Errors: ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (the stream has a callback). Any thread. */
ASR_API asr_status asr_result(asr_stream *stream, asr_event **event);

/* Waits until asr_result has an event (polling), or until END has been delivered (callback); at once if that is so already.
 * timeout_ms < 0 waits as long as it takes. Errors: ASR_TIMEOUT, ASR_INVALID_ARGUMENT, ASR_INVALID_STATE (called in the
 * stream's own callback; called without a timeout in a callback that this stream's callback waits for, maybe by way of others;
 * or, polling, END has been taken and nothing can follow). Any thread. */
ASR_API asr_status asr_wait(asr_stream *stream, int32_t timeout_ms);

/* Ends the stream, finished or not: waits for a running callback, discards events that were not taken, frees everything. Work
 * on the stream's results stops; it does not wait for it. NULL is allowed. Called in the stream's own callback it does nothing
 * but log an error. Where callbacks close each other's streams, so that they would wait for each other, the last of these calls
 * does not wait: that stream's callback may then still run when the call returns, and must not use its stream any more. */
ASR_API void asr_close(asr_stream *stream);

/* ---- events ------------------------------------------------------------------------------------------------------- */

typedef enum asr_event_kind {
  ASR_EVENT_READY = 1,        /* the stream accepts audio */
  ASR_EVENT_SPEECH_START = 2, /* audio has begun */
  ASR_EVENT_PARTIAL = 3,      /* the best words so far; later ones may differ */
  ASR_EVENT_ENDPOINT = 4,     /* the utterance is complete; FINAL follows */
  ASR_EVENT_FINAL = 5,        /* the words of the utterance */
  ASR_EVENT_ERROR = 6,        /* the stream has failed: asr_event_status and asr_event_text say why */
  ASR_EVENT_END = 7,          /* nothing follows */
  /* Since 0.2.0, of streams with an early_endpoint_ms, between SPEECH_START and ENDPOINT. */
  ASR_EVENT_PROBABLY_FINISHED = 8, /* the silence after the last word is that long: an ENDPOINT is near, if nobody goes on. Has
                                      the words so far, as a PARTIAL has them. Comes once, and again after SPEECH_RESUMED */
  ASR_EVENT_SPEECH_RESUMED = 9     /* takes the last PROBABLY_FINISHED back: somebody goes on before the ENDPOINT */
} asr_event_kind;

/* Flags of PARTIAL and FINAL events. */
#define ASR_FLAG_NOT_FINAL_STATE 1u /* the graph's end was not reached: the words may stop in the middle of a sentence */
#define ASR_FLAG_BEAM_DIED 2u       /* no path survived to the end of the audio: the words end where the search did */
#define ASR_FLAG_NO_SPEECH 4u       /* the audio was too short for one frame, or held no words */
/* The whole lattice would have taken too much time or memory. It is narrower than lattice_beam: asr_lattice.beam says how
 * wide. Since 0.2.0. */
#define ASR_FLAG_BEAM_NARROWED 8u
#define ASR_FLAG_FELL_BACK 16u /* since 0.2.0: the device was lost; this was decoded on asr_engine_config.fallback */
#define ASR_FLAG_CANCELLED 32u /* since 0.2.0: asr_cancel_utterance has dropped the utterance: no words, no lattice */

/* Since 0.2.0: the words are probably not what was said, which the grammar does not hold: asr_event_out_of_grammar is above
 * asr_stream_config.reject_threshold. The words are there all the same. */
#define ASR_FLAG_REJECTED 64u

typedef struct asr_word {
  size_t size;      /* set by the caller to sizeof(asr_word) */
  const char *text; /* the event's */
  double start_s;   /* from the first sample fed */
  double end_s;
  float confidence; /* 0..1: share of the lattice that says this word here, times 1 - asr_event_out_of_grammar where there is
                       one; -1 without a lattice and in PARTIAL */
  uint32_t word_id; /* its number in words.txt */
  /* Both by the grammar (docs/grammars.md), the event's, and "" where the grammar says nothing. Since 0.2.0 */
  const char *rule; /* the public rule of the sentence */
  const char *tags; /* the word's tags, joined by '\n' */
} asr_word;

/* All accessors allow NULL and give 0, "" or ASR_INVALID_ARGUMENT. Any thread; an event does not change. */
ASR_API asr_event_kind asr_event_get_kind(const asr_event *event);
ASR_API asr_status asr_event_status(const asr_event *event); /* ASR_OK except in ERROR events */
ASR_API uint32_t asr_event_flags(const asr_event *event);
ASR_API double asr_event_time_s(const asr_event *event);    /* audio time that the event speaks of, from the first sample */
ASR_API const char *asr_event_text(const asr_event *event); /* words joined by blanks; the sentence of an ERROR; else "" */

/* Alternatives, best first, no two of the same word_ids: 1 to n_best in FINAL, 1 in PARTIAL and PROBABLY_FINISHED, 0 for kinds
 * without words. */
ASR_API size_t asr_event_n_alternatives(const asr_event *event);
ASR_API const char *asr_event_alternative_text(const asr_event *event, size_t alternative);
/* Natural-log costs of an alternative: graph_cost, with word insertions and the cost to end there, and acoustic_cost, not
 * scaled. The best alternative has the least graph_cost + acoustic_scale * acoustic_cost. With a speaker's transform the
 * acoustic costs are those of the transformed rows, and do not compare with those without. Either pointer may be NULL. */
ASR_API asr_status asr_event_alternative_costs(const asr_event *event, size_t alternative, double *graph_cost,
                                               double *acoustic_cost);
/* The public rule of an alternative's words, and their tags, joined by '\n'; "" where the grammar has none. Alternatives of the
 * same words may differ in these. Since 0.2.0. */
ASR_API const char *asr_event_rule(const asr_event *event, size_t alternative);
ASR_API const char *asr_event_tags(const asr_event *event, size_t alternative);
ASR_API size_t asr_event_n_words(const asr_event *event, size_t alternative);
ASR_API asr_status asr_event_word(const asr_event *event, size_t alternative, size_t index, asr_word *word);
/* The number of first words of alternative 0 that are certain: every later event of the utterance that has words begins with
 * them, with the same times. The words that every path shares which the search still follows, it never falls within an
 * utterance; all words in FINAL. 0 in PARTIAL on devices that cannot tell, which only the CPU can as yet. A FINAL with a
 * lattice has the lattice's times, and of words that cost exactly the same the lattice's. Not certain are what
 * asr_cancel_utterance drops, what asr_boost changes, what is decoded again on a fallback (ASR_FLAG_FELL_BACK), and a lattice
 * that had no room (ASR_FLAG_BEAM_NARROWED). Since 0.2.0. */
ASR_API size_t asr_event_n_stable_words(const asr_event *event);

/* How likely it is that what was said is not in the grammar, 0..1: the words of a FINAL event against any phones in any order.
 * -1 where it is not known: in other events, without words, and where the stream does not compare
 * (asr_stream_config.reject_threshold). Since 0.2.0. */
ASR_API float asr_event_out_of_grammar(const asr_event *event);

/* The lattice of a FINAL event: every word sequence that costs at most `beam` more than the best is exactly one path, with
 * the costs and times of its best alignment. Every arc lies on such a path; arcs of several may also make up paths that cost
 * more, which alternatives leave out.
 *
 * A path begins in state 0, follows arcs, each a word, and ends in a state whose end costs are finite. It costs the sum over
 * its arcs, and over that end, of graph_cost + acoustic_scale * acoustic_cost; costs are natural logarithms, negated. The arcs
 * of a state lie together, in the order of the states, and lead to states of higher numbers. Equal audio and settings give
 * the same lattice, bit for bit on one device, however the audio was fed and whatever else the engine does.
 *
 * A posterior is the share of a path, an arc or an end in all paths of the lattice, each weighted by exp(-cost).
 * The times of arcs are those of the graph's labels, which may lie some frames beside where the word is heard; asr_word has
 * the times of the words themselves. Transition-ids number what the model's HMMs did in each frame (docs/graph-file.md). */
typedef struct asr_lattice {
  size_t size;       /* set by the caller to sizeof(asr_lattice) */
  uint32_t n_states; /* 0: no path, nothing was decoded */
  uint32_t n_frames; /* frames of every path */
  uint64_t n_arcs;
  double beam;                     /* the stream's lattice_beam, or less (ASR_FLAG_BEAM_NARROWED) */
  double acoustic_scale;           /* the stream's */
  const double *state_time_s;      /* [n_states] from the first sample fed */
  const double *end_graph_cost;    /* [n_states] INFINITY where no path ends */
  const double *end_acoustic_cost; /* [n_states] of what follows the last word; 0 where no path ends */
  const double *end_posterior;     /* [n_states] */
  const uint32_t *arc_from;        /* [n_arcs] state, ascending */
  const uint32_t *arc_to;          /* [n_arcs] state, higher than arc_from */
  const uint32_t *arc_word_id;     /* [n_arcs] as asr_word.word_id */
  const char *const *arc_word;     /* [n_arcs] its text */
  const double *arc_graph_cost;    /* [n_arcs] with word insertion cost */
  const double *arc_acoustic_cost; /* [n_arcs] not scaled */
  const double *arc_posterior;     /* [n_arcs] */
  const double *arc_start_s;       /* [n_arcs] state_time_s of arc_from */
  const double *arc_end_s;         /* [n_arcs] state_time_s of arc_to */
  /* transition_id[alignment_begin[i]] ... transition_id[alignment_begin[i + 1] - 1], one a frame, are those of arc i where
   * i < n_arcs, and of the end in state i - n_arcs otherwise. */
  const uint64_t *alignment_begin; /* [n_arcs + n_states + 1] */
  const uint32_t *transition_id;
} asr_lattice;

/* Fills *lattice; its arrays and strings are the event's and valid until that is freed. Errors: ASR_INVALID_ARGUMENT;
 * ASR_NOT_FOUND (not a FINAL event, or its stream had no lattice_beam). Any thread. Since 0.2.0. */
ASR_API asr_status asr_event_lattice(const asr_event *event, asr_lattice *lattice);

/* Frees an event; NULL is allowed. Events may outlive their stream and engine. */
ASR_API void asr_event_free(asr_event *event);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_H */
