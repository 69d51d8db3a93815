/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_build.h - libsenone_build: compiles grammars in the process, for asr_engine_add_graph_bytes. Since 0.2.0. It also finds
 * the times of words and phones in recordings whose text is known (asr_align, since 0.3.0).
 *
 *   asr_builder_open("bundle", &builder);
 *   asr_builder_add_lexicon(builder, "words.dict");
 *   asr_build_jsgf(builder, text, n_bytes, NULL, &result);
 *   asr_build_get_info(result, &info);                       with info.size set to sizeof(info)
 *   asr_engine_add_graph_bytes(engine, "menu", info.bytes, info.n_bytes);
 *   asr_build_free(result);
 *   asr_builder_close(builder);
 *
 * It is a separate library that does not need libsenone, so a program may compile grammars in one process and recognise in
 * another. The rules of asr.h about memory, configuration, errors and side effects hold here, too, with asr_build_last_error
 * for the messages. The library starts no threads and reads no environment variables. docs/grammars.md describes the formats.
 *
 * THREADS
 *   Any thread may call any function, and several may use a builder at once. Builds run in parallel, each with the lexicons
 *   that were added before it began. asr_builder_close must be the last call for a builder. A result never changes and
 *   outlives its builder.
 *
 * ERRORS OF GRAMMARS
 *   A grammar may fail with ASR_BAD_FILE, with ASR_UNSUPPORTED (valid, but beyond a limit of docs/limits.md) and, for words
 *   without a pronunciation, with ASR_INVALID_ARGUMENT. The message begins with the grammar's name (asr_build_config.name).
 *   If the error has one position, "line 3, column 7" follows; both count from 1, columns in bytes.
 */
#ifndef SENONE_ASR_BUILD_H
#define SENONE_ASR_BUILD_H

#include "asr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The N of libsenone_build.so.N. */
#define ASR_BUILD_ABI 0

/* Returns the message about this thread's last failed call of this library, in one line; "" if none failed. Valid until this
 * thread's next call. */
ASR_API const char *asr_build_last_error(void);

typedef struct asr_builder asr_builder;

/* Opens a builder for the model of a bundle.
 *
 * bundle_path: a bundle, whose phones, HMMs, contexts and filler words are read and kept.
 * builder: receives the builder, which the caller closes with asr_builder_close.
 *
 * Errors: ASR_NOT_FOUND (no such bundle, or no hmms.bin in it), ASR_BAD_FILE, ASR_IO, ASR_UNSUPPORTED (a model with unknown
 *   contexts). */
ASR_API asr_status asr_builder_open(const char *bundle_path, asr_builder **builder);

/* Adds the words of a dictionary in the form of CMU Sphinx: lines "word phone phone ...", variants as "word(2)".
 *
 * path: the file.
 *
 * Words that are known already get these pronunciations in addition. Pronunciations with phones that the model lacks are left
 * out. If the call fails, nothing has changed.
 *
 * Errors: ASR_NOT_FOUND, ASR_BAD_FILE (also if no pronunciation is left), ASR_IO. */
ASR_API asr_status asr_builder_add_lexicon(asr_builder *builder, const char *path);

/* The same from memory.
 *
 * text, n_bytes: the dictionary.
 * name: what messages call it; NULL: "lexicon".
 *
 * Errors: as asr_builder_add_lexicon. */
ASR_API asr_status asr_builder_add_lexicon_text(asr_builder *builder, const char *text, size_t n_bytes, const char *name);

/* What happens to words that are in no lexicon. */
typedef enum asr_build_unknown {
  ASR_BUILD_REFUSE_UNKNOWN = 0, /* the grammar is refused; the message lists them */
  ASR_BUILD_DROP_UNKNOWN = 1    /* alternatives that need them are left out; asr_build_info.unknown lists them */
} asr_build_unknown;

/* Letter case of the grammar's words, for a lexicon that is all lower or all upper case; letters of all scripts. */
typedef enum asr_build_case { ASR_BUILD_CASE_AS_IS = 0, ASR_BUILD_CASE_LOWER = 1, ASR_BUILD_CASE_UPPER = 2 } asr_build_case;

typedef struct asr_build_config {
  size_t size;
  const char *name; /* name of the grammar in messages; NULL or "": "grammar" */
  const char *rule; /* rule to recognise; NULL or "": all public rules, in SRGS the root */
  asr_build_unknown unknown;
  asr_build_case letter_case;
  double silence_prob;     /* probability of silence between words, 0..1; default 0.3 */
  double filler_prob;      /* probability of each other filler there, 0..1; default 1e-4 */
  double transition_scale; /* weight of the costs between HMM states, 0..100; default 1 */
  double self_loop_scale;  /* weight of the costs of staying in an HMM state or leaving, 0..100; default 0.1 */
} asr_build_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_build_config_default(asr_build_config *config);

/* Lets a model of `senone g2p` pronounce words that are in no lexicon, in later builds. asr_build_info.guessed lists them.
 *
 * path: the model; NULL removes it.
 * n_best: maximum number of pronunciations of a word, 1..256.
 *
 * Errors: ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO. */
ASR_API asr_status asr_builder_set_g2p(asr_builder *builder, const char *path, uint32_t n_best);

/* Classes are lists of phrases that grammars use as $name, in place of a word. A grammar is compiled without its classes and a
 * class without its grammars, and joining them takes only the time to copy their states. A list of names may therefore change
 * between two sentences of a dialog: change it, call asr_build_again, and add the new archive to the engine. */

/* Sets the phrases of a class, which must exist before a grammar that uses it is built. It may be empty, and then nothing can
 * be said in its place. Its phrases are equally likely, and use no classes themselves.
 *
 * name: 1 to 255 bytes of UTF-8 without blanks, control characters and any of $;=|()[]*+<>{}"/.
 * text, n_bytes: phrases in the form of asr_build_phrases.
 * config: of its members these apply, to the phrases of this call: `name` (in messages; NULL or "": the class's), unknown,
 *   letter_case, and the probabilities and weights.
 *
 * Calls that change classes wait for each other; builds do not wait for them. If the call fails, nothing has changed.
 *
 * Errors: ASR_BAD_FILE, ASR_UNSUPPORTED. */
ASR_API asr_status asr_builder_set_class(asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                                         const asr_build_config *config);

/* Adds phrases to a class. The parameters are those of asr_builder_set_class.
 *
 * Adding takes time by the number of added phrases, and not by the size of the class. An occasional call also compiles as many
 * existing phrases, or all of them, since lists of similar sizes are merged: adding n phrases one by one compiles each at most
 * log2(n) times.
 *
 * Errors: as asr_builder_set_class. */
ASR_API asr_status asr_builder_add_to_class(asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                                            const asr_build_config *config);

/* Closes a builder. NULL is allowed. */
ASR_API void asr_builder_close(asr_builder *builder);

typedef struct asr_build_result asr_build_result;

/* Compiles a grammar. Without a lexicon no word is known.
 *
 * asr_build_jsgf: rules in JSGF.
 * asr_build_srgs: rules in the XML form of SRGS 1.0 (GRXML).
 * asr_build_phrases: a choice of phrases, one on each line, with tags: "call home {home}". Empty lines and lines that begin
 *   with '#' are ignored.
 * asr_build_words: words, one on each line, spoken in any number and order, as `senone graph --words`.
 *
 * text, n_bytes: the grammar in UTF-8.
 * config: NULL for the defaults.
 * result: receives the result, which the caller frees with asr_build_free.
 *
 * Errors: see ERRORS OF GRAMMARS. */
ASR_API asr_status asr_build_jsgf(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                                  asr_build_result **result);
ASR_API asr_status asr_build_srgs(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                                  asr_build_result **result);
ASR_API asr_status asr_build_phrases(const asr_builder *builder, const char *text, size_t n_bytes,
                                     const asr_build_config *config, asr_build_result **result);
ASR_API asr_status asr_build_words(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                                   asr_build_result **result);

/* Builds the grammar of a result again with the current classes of its builder, in the time that joining takes.
 *
 * again: receives the new result, which the caller frees with asr_build_free.
 *
 * The grammar's words and their pronunciations stay as they were when it was built, those of a class as when it was set. A
 * grammar without classes gives an equal result.
 *
 * Errors: ASR_BAD_FILE, ASR_UNSUPPORTED (the classes make it too large). */
ASR_API asr_status asr_build_again(const asr_builder *builder, const asr_build_result *result, asr_build_result **again);

typedef struct asr_build_info {
  size_t size;                /* set by the caller to sizeof(asr_build_info) */
  const void *bytes;          /* the graph archive; the result owns this and all following arrays */
  size_t n_bytes;             /* size of the archive */
  const char *const *unknown; /* [n_unknown] distinct words in no lexicon, in byte order */
  size_t n_unknown;
  uint64_t n_arcs; /* size of the graph */
  uint32_t n_states;
  uint32_t n_words;           /* word symbols: one per combination of word, tags and rule */
  const char *const *guessed; /* [n_guessed] words pronounced by the model of asr_builder_set_g2p, in the order of unknown */
  size_t n_guessed;
  size_t n_classes; /* classes that the grammar uses */
} asr_build_info;

/* Fills *info. */
ASR_API asr_status asr_build_get_info(const asr_build_result *result, asr_build_info *info);

/* Frees a result. NULL is allowed. */
ASR_API void asr_build_free(asr_build_result *result);

/* ---- alignment (since 0.3.0) ----------------------------------------------------------------------------------------
 *
 *   asr_aligner_open("bundle", "cmudict.dict", NULL, &aligner);
 *   asr_align(aligner, samples, n_samples, text, n_bytes, NULL, &alignment);
 *   asr_alignment_word(alignment, 0, &word);                 with word.size set to sizeof(word)
 *   asr_alignment_free(alignment);
 *   asr_aligner_close(aligner);
 *
 * An aligner needs a model and a dictionary, but no graph. It computes on the CPU, in the thread of the call. Any threads may
 * use one aligner at once, each with its own working memory, which the aligner keeps for later calls. asr_aligner_close must be
 * the last call for an aligner. An alignment never changes and outlives its aligner. docs/alignment.md tells how exact the
 * times are, and what the costs do. */

typedef struct asr_aligner asr_aligner;

typedef struct asr_aligner_config {
  size_t size;
  const char *g2p; /* a model of `senone g2p`, which pronounces words that the dictionary lacks; NULL or "" (default): none */
  uint32_t n_g2p_best; /* maximum number of pronunciations of such a word, 1..256; default 1 */
  uint32_t reserved;   /* 0 */
} asr_aligner_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_aligner_config_default(asr_aligner_config *config);

/* Opens an aligner.
 *
 * bundle_path: a bundle with HMMs.
 * lexicon_path: a dictionary in the form of CMU Sphinx, Kaldi, MFA or HTK.
 * config: NULL for the defaults.
 * aligner: receives the aligner, which the caller closes with asr_aligner_close.
 *
 * Errors: ASR_NOT_FOUND (no such file, or no hmms.bin in the bundle), ASR_BAD_FILE, ASR_IO, ASR_UNSUPPORTED (a model with
 *   unknown contexts). */
ASR_API asr_status asr_aligner_open(const char *bundle_path, const char *lexicon_path, const asr_aligner_config *config,
                                    asr_aligner **aligner);

/* Closes an aligner. NULL is allowed. */
ASR_API void asr_aligner_close(asr_aligner *aligner);

typedef struct asr_align_config {
  size_t size;
  asr_input input;         /* ASR_INPUT_INT16 (default), FLOAT, ULAW, ALAW, or FEATURES: rows after all transforms */
  uint32_t sample_rate_hz; /* of the samples, 1000..768000; 0 (default) = the model's */
  uint32_t n_channels;     /* interleaved channels, 1..64; default 1 */
  int32_t channel;         /* the channel to align, from 0; -1 (default) = the mean of all */
  uint32_t lenient;        /* 1: the text may have errors: its words may not be said, and others may be; default 0 */
  double skip_cost;        /* if lenient: cost of a word of the text that is not said, 0..1e6, natural log; default 40 */
  double foreign_cost;     /* if lenient: cost of a phone that is said and is not in the text, 5..1e6; default 30 */
} asr_align_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_align_config_default(asr_align_config *config);

typedef struct asr_alignment asr_alignment;

/* Aligns a recording with its text.
 *
 * samples: the whole recording; the type depends on config->input.
 * n_samples: samples of each channel, or rows.
 * text, n_bytes: what is said, words in UTF-8 between blanks. A word is found in the dictionary as it is, in lower or upper
 *   case, and without the punctuation around it.
 * config: NULL for the defaults.
 * alignment: receives the alignment, which the caller frees with asr_alignment_free.
 *
 * A recording of more than a minute is aligned in pieces, so that the working memory does not grow with it.
 *
 * Errors: ASR_INVALID_ARGUMENT (also a word without a pronunciation, or no words), ASR_BAD_AUDIO (no frames, samples that are
 *   not finite, or a text that is not what is said: the message tells where), ASR_UNSUPPORTED (words too many for a graph). */
ASR_API asr_status asr_align(const asr_aligner *aligner, const void *samples, size_t n_samples, const char *text,
                             size_t n_bytes, const asr_align_config *config, asr_alignment **alignment);

typedef struct asr_alignment_info {
  size_t size;              /* set by the caller to sizeof(asr_alignment_info) */
  double duration_s;        /* of the frames */
  size_t n_words;           /* words that are said, in the order of their times */
  size_t n_phones;          /* of all words */
  size_t n_text_words;      /* words of the text */
  const uint32_t *not_said; /* [n_not_said] numbers of the text's words, from 0, that are not said; the alignment owns it */
  size_t n_not_said;
} asr_alignment_info;

/* Fills *info. */
ASR_API asr_status asr_alignment_get_info(const asr_alignment *alignment, asr_alignment_info *info);

/* The number of a word that is said and that the text does not have. */
#define ASR_FOREIGN_WORD UINT32_MAX

typedef struct asr_aligned_word {
  size_t size;      /* set by the caller to sizeof(asr_aligned_word) */
  const char *text; /* as the text writes it, or "[foreign]"; the alignment owns it */
  double start_s;   /* from the beginning of the recording */
  double end_s;
  float confidence;   /* 0..1, that the word was said here: 1 / (1 + exp(-4 - goodness)), the mean goodness of its frames */
  uint32_t number;    /* of the text's words, from 0, or ASR_FOREIGN_WORD */
  size_t first_phone; /* its phones follow each other from here */
  size_t n_phones;    /* at least 1 */
} asr_aligned_word;

/* Fills *word. index: below asr_alignment_info.n_words. */
ASR_API asr_status asr_alignment_word(const asr_alignment *alignment, size_t index, asr_aligned_word *word);

typedef struct asr_aligned_phone {
  size_t size;           /* set by the caller to sizeof(asr_aligned_phone) */
  const char *name;      /* the alignment owns it */
  const char *likeliest; /* the phone that fits most of its frames best, in any order of phones */
  double start_s;        /* from the beginning of the recording */
  double end_s;
  float log_likelihood; /* mean of its frames */
  float goodness;       /* how much better it fits than the best phones, per frame: about 0 if it is said, else negative */
} asr_aligned_phone;

/* Fills *phone. index: below asr_alignment_info.n_phones. */
ASR_API asr_status asr_alignment_phone(const asr_alignment *alignment, size_t index, asr_aligned_phone *phone);

/* Frees an alignment. NULL is allowed. */
ASR_API void asr_alignment_free(asr_alignment *alignment);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BUILD_H */
