/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vosk_api.h - the C interface of Vosk, which libvosk offers over Senone, so that programs and bindings made for Vosk run with
 * Senone's bundles. docs/vosk.md says how to install it, and where it differs.
 *
 * Every function takes NULL for any pointer, and then does nothing, returns NULL, "" or -1. What went wrong is written to
 * standard error, since the interface has no other place for it; vosk_set_log_level says how much else is.
 *
 * Strings that a function returns belong to the object that it was called for, and are valid until the next call for that
 * object. Any threads may share a model. A recognizer may be used by any thread, one call at a time; calls that overlap wait.
 */
#ifndef VOSK_API_H
#define VOSK_API_H

#if defined(__GNUC__)
#define VOSK_API __attribute__((visibility("default")))
#else
#define VOSK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VoskModel VoskModel;
typedef struct VoskSpkModel VoskSpkModel;
typedef struct VoskRecognizer VoskRecognizer;
typedef struct VoskTextProcessor VoskTextProcessor;
typedef struct VoskBatchModel VoskBatchModel;
typedef struct VoskBatchRecognizer VoskBatchRecognizer;

/* ---- models ------------------------------------------------------------------------------------------------------- */

/* Loads a bundle, a directory of `senone import` and `senone graph`. Returns NULL if that fails. Recognizers keep the model, so
 * that it may be freed before them. */
VOSK_API VoskModel *vosk_model_new(const char *model_path);
VOSK_API void vosk_model_free(VoskModel *model);

/* Returns the number of a word of the graph or of the dictionary for grammars; -1 if neither has it. */
VOSK_API int vosk_model_find_word(VoskModel *model, const char *word);

/* There are no speaker models: vosk_spk_model_new returns NULL, and says so. */
VOSK_API VoskSpkModel *vosk_spk_model_new(const char *model_path);
VOSK_API void vosk_spk_model_free(VoskSpkModel *model);

/* ---- recognizers -------------------------------------------------------------------------------------------------- */

/* Makes a recognizer of audio with this sample rate, 1000 to 768000 Hz. It searches the bundle's graph, or with
 * vosk_recognizer_new_grm the grammar. vosk_recognizer_new_spk returns NULL, as there are no speaker models. */
VOSK_API VoskRecognizer *vosk_recognizer_new(VoskModel *model, float sample_rate);
VOSK_API VoskRecognizer *vosk_recognizer_new_spk(VoskModel *model, float sample_rate, VoskSpkModel *spk_model);

/* grammar: a JSON list of phrases, such as ["turn on the light", "stop", "[unk]"]. They may be said in any number and order,
 * and so may their words, which is less likely. With "[unk]" speech that is not in the grammar has this text, else "". "[]" is
 * the bundle's graph. */
VOSK_API VoskRecognizer *vosk_recognizer_new_grm(VoskModel *model, float sample_rate, const char *grammar);
VOSK_API void vosk_recognizer_free(VoskRecognizer *recognizer);

VOSK_API void vosk_recognizer_set_spk_model(VoskRecognizer *recognizer, VoskSpkModel *spk_model); /* says that it cannot */

/* Changes the grammar of what begins later; one that does not compile changes nothing. */
VOSK_API void vosk_recognizer_set_grm(VoskRecognizer *recognizer, const char *grammar);

/* Results have up to so many alternatives; 0, the default: only the best one, in another form. */
VOSK_API void vosk_recognizer_set_max_alternatives(VoskRecognizer *recognizer, int max_alternatives);

/* Results, or partial ones, have the words with their times. By default they do not. */
VOSK_API void vosk_recognizer_set_words(VoskRecognizer *recognizer, int words);
VOSK_API void vosk_recognizer_set_partial_words(VoskRecognizer *recognizer, int partial_words);

/* Results with alternatives are NLSML instead of JSON. */
VOSK_API void vosk_recognizer_set_nlsml(VoskRecognizer *recognizer, int nlsml);

/* How long a silence ends an utterance: that of the graph's kind, or 0.75, 1.5 and 4 times that. */
typedef enum VoskEpMode {
  VOSK_EP_ANSWER_DEFAULT = 0,
  VOSK_EP_ANSWER_SHORT = 1,
  VOSK_EP_ANSWER_LONG = 2,
  VOSK_EP_ANSWER_VERY_LONG = 3
} VoskEndpointerMode;
VOSK_API void vosk_recognizer_set_endpointer_mode(VoskRecognizer *recognizer, int mode); /* a VoskEndpointerMode */

/* The same in seconds: silence before any word, after which there is an empty result; silence after words; the longest
 * utterance. */
VOSK_API void vosk_recognizer_set_endpointer_delays(VoskRecognizer *recognizer, float t_start_max, float t_end, float t_max);

/* Takes audio of one channel, and returns 1 if a result is ready, 0 if not yet, -1 on errors.
 *
 * length: bytes of 16-bit samples; samples; samples on the scale of 16-bit ones. */
VOSK_API int vosk_recognizer_accept_waveform(VoskRecognizer *recognizer, const char *data, int length);
VOSK_API int vosk_recognizer_accept_waveform_s(VoskRecognizer *recognizer, const short *data, int length);
VOSK_API int vosk_recognizer_accept_waveform_f(VoskRecognizer *recognizer, const float *data, int length);

/* Returns what was said since the last result: the utterances that have ended or, if none has, what was heard so far, which
 * then ends. vosk_recognizer_final_result always ends it, for the end of the audio. More audio may follow either. */
VOSK_API const char *vosk_recognizer_result(VoskRecognizer *recognizer);
VOSK_API const char *vosk_recognizer_final_result(VoskRecognizer *recognizer);

/* Returns the words so far, which may still change. */
VOSK_API const char *vosk_recognizer_partial_result(VoskRecognizer *recognizer);

/* Drops what was said since the last result. Times go on. */
VOSK_API void vosk_recognizer_reset(VoskRecognizer *recognizer);

/* ---- the process -------------------------------------------------------------------------------------------------- */

/* Below 0: errors; 0, the default: also warnings and what was loaded; above 0: more. */
VOSK_API void vosk_set_log_level(int log_level);

/* Do nothing: a model is loaded on the best device, or on that of SENONE_DEVICE. */
VOSK_API void vosk_gpu_init(void);
VOSK_API void vosk_gpu_thread_init(void);

/* ---- batches ------------------------------------------------------------------------------------------------------ */

/* The same model as vosk_model_new's, whose recognizers do not wait for what they were given. */
VOSK_API VoskBatchModel *vosk_batch_model_new(const char *model_path);
VOSK_API void vosk_batch_model_free(VoskBatchModel *model);

/* Waits until the audio of all recognizers of the model has been recognised as far as it can be. */
VOSK_API void vosk_batch_model_wait(VoskBatchModel *model);

VOSK_API VoskBatchRecognizer *vosk_batch_recognizer_new(VoskBatchModel *model, float sample_rate);
VOSK_API void vosk_batch_recognizer_free(VoskBatchRecognizer *recognizer);
VOSK_API void vosk_batch_recognizer_set_nlsml(VoskBatchRecognizer *recognizer, int nlsml);

/* Takes bytes of 16-bit samples. Waits only while half a minute of audio is not recognised yet. */
VOSK_API void vosk_batch_recognizer_accept_waveform(VoskBatchRecognizer *recognizer, const char *data, int length);

/* Says that the audio is complete. */
VOSK_API void vosk_batch_recognizer_finish_stream(VoskBatchRecognizer *recognizer);

/* Returns the oldest result, with its words; "" if there is none. vosk_batch_recognizer_pop drops it. */
VOSK_API const char *vosk_batch_recognizer_front_result(VoskBatchRecognizer *recognizer);
VOSK_API void vosk_batch_recognizer_pop(VoskBatchRecognizer *recognizer);

/* Returns how much audio waits to be recognised, in pieces of 0.2 s; 0 if all is done that can be done now. */
VOSK_API int vosk_batch_recognizer_get_pending_chunks(VoskBatchRecognizer *recognizer);

/* ---- texts -------------------------------------------------------------------------------------------------------- */

/* There is no inverse text normalisation: vosk_text_processor_new returns NULL, and says so. */
VOSK_API VoskTextProcessor *vosk_text_processor_new(const char *tagger, const char *verbalizer);
VOSK_API void vosk_text_processor_free(VoskTextProcessor *processor);
VOSK_API char *vosk_text_processor_itn(VoskTextProcessor *processor, const char *input);

#ifdef __cplusplus
}
#endif
#endif /* VOSK_API_H */
