/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_build.h - libsenone_build: compiles grammars in the process, for asr_engine_add_graph_bytes. Since 0.2.0.
 *
 *   asr_builder_open("bundle", &builder);
 *   asr_builder_add_lexicon(builder, "words.dict");
 *   asr_build_jsgf(builder, text, n_bytes, NULL, &result);
 *   asr_build_get_info(result, &info);                       with info.size set to sizeof(info)
 *   asr_engine_add_graph_bytes(engine, "menu", info.bytes, info.n_bytes);
 *   asr_build_free(result);
 *   asr_builder_close(builder);
 *
 * It is a library of its own, beside libsenone, which it does not need: a program may compile grammars in one process and
 * recognise in another. What asr.h says of memory, configuration, errors and side effects holds here too, with
 * asr_build_last_error for the sentences. It starts no threads and reads no environment variables. docs/grammars.md describes
 * the formats.
 *
 * THREADS
 *   A builder may be used from any threads at once: builds run beside each other, each with the lexicons that had been added
 *   when it began. asr_builder_close must be the last call of a builder. A result does not change and outlives its builder.
 *
 * ERRORS OF GRAMMARS
 *   ASR_BAD_FILE, ASR_UNSUPPORTED (valid, but beyond a limit of docs/limits.md) and, for words without a pronunciation,
 *   ASR_INVALID_ARGUMENT; the sentence begins with the grammar's name (asr_build_config.name) and, where one place is at
 *   fault, "line 3, column 7", which count from 1, columns in bytes.
 */
#ifndef SENONE_ASR_BUILD_H
#define SENONE_ASR_BUILD_H

#include "asr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The N of libsenone_build.so.N. */
#define ASR_BUILD_ABI 0

/* One sentence about the last call of this thread that failed in this library; "" if none did. Valid until this thread's next
 * call. */
ASR_API const char *asr_build_last_error(void);

typedef struct asr_builder asr_builder;

/* Opens a builder for the model of a bundle: its phones, HMMs, contexts and filler words, which are read and kept. *builder is
 * the caller's, closed with asr_builder_close.
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND (no such bundle, or no hmms.bin in it), ASR_BAD_FILE, ASR_IO, ASR_UNSUPPORTED (a
 * model whose contexts are not known), ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_builder_open(const char *bundle_path, asr_builder **builder);

/* Adds the words of a dictionary in CMU Sphinx form ("word phone phone ..." lines, variants as "word(2)"): of a file, or of
 * n_bytes of text, which `name` names in messages (NULL: "lexicon"). A word that was added before gets these pronunciations
 * besides. Pronunciations with phones that the model lacks are left out. If the call fails, all is as it was.
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND, ASR_BAD_FILE (also where no pronunciation is left), ASR_IO, ASR_OUT_OF_MEMORY.
 * Any thread. */
ASR_API asr_status asr_builder_add_lexicon(asr_builder *builder, const char *path);
ASR_API asr_status asr_builder_add_lexicon_text(asr_builder *builder, const char *text, size_t n_bytes, const char *name);

/* Ways to treat words that no lexicon has. */
typedef enum asr_build_unknown {
  ASR_BUILD_REFUSE_UNKNOWN = 0, /* the grammar is refused; the sentence lists them */
  ASR_BUILD_DROP_UNKNOWN = 1    /* the alternatives that need them are left out; asr_build_info.unknown lists them */
} asr_build_unknown;

/* Letters of the grammar's words, for a lexicon that is all lower or all upper case; ASCII only. */
typedef enum asr_build_case { ASR_BUILD_CASE_AS_IS = 0, ASR_BUILD_CASE_LOWER = 1, ASR_BUILD_CASE_UPPER = 2 } asr_build_case;

typedef struct asr_build_config {
  size_t size;
  const char *name; /* of the grammar, in messages; NULL or "": "grammar" */
  const char *rule; /* to recognise; NULL or "": all public rules, in SRGS the root */
  asr_build_unknown unknown;
  asr_build_case letter_case;
  double silence_prob;     /* of silence between words, 0..1; default 0.3 */
  double filler_prob;      /* of each other filler there, 0..1; default 1e-4 */
  double transition_scale; /* weight of the costs between HMM states, 0..100; default 1 */
  double self_loop_scale;  /* weight of the costs of staying in an HMM state or leaving, 0..100; default 0.1 */
} asr_build_config;

ASR_API void asr_build_config_default(asr_build_config *config);

/* Lets a model of `senone g2p` pronounce words that no lexicon has, up to n_best (1..256) ways each, in what is built from now
 * on; path NULL: not any more. asr_build_info.guessed lists them.
 * Errors: ASR_INVALID_ARGUMENT, ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO, ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_builder_set_g2p(asr_builder *builder, const char *path, uint32_t n_best);

/* Classes: lists of phrases that grammars use as $name, in the place of a word. A grammar is compiled without its classes and a
 * class without its grammars; joining them takes the time to copy their states. So a list of names may change between two
 * sentences of a dialog: change it, call asr_build_again, and add the new archive to the engine.
 *
 * asr_builder_set_class sets the phrases of a class, in the form of asr_build_phrases; asr_builder_add_to_class adds more. A
 * class must exist before a grammar that uses it is built, and may be empty: then nothing can be said in its place. Its phrases
 * are equally likely, and use no classes themselves.
 *
 * Adding takes time by the phrases that are added, not by those that there are, but for one call in a while that compiles as
 * many or all of these, too: lists of like sizes become one. Adding n phrases one by one compiles each log2(n) times at most.
 * Calls that change classes wait for each other; builds do not wait for them.
 *
 * The name has 1 to 255 bytes of UTF-8 without blanks, control characters and any of $;=|()[]*+<>{}"/. Of the config, `name`
 * (in messages; NULL or "": the class's), unknown, letter_case and the probabilities and weights count, for the phrases of the
 * call. If the call fails, all is as it was. Errors: ASR_INVALID_ARGUMENT, ASR_BAD_FILE, ASR_UNSUPPORTED, ASR_OUT_OF_MEMORY.
 * Any thread. */
ASR_API asr_status asr_builder_set_class(asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                                         const asr_build_config *config);
ASR_API asr_status asr_builder_add_to_class(asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                                            const asr_build_config *config);

/* NULL is allowed. */
ASR_API void asr_builder_close(asr_builder *builder);

typedef struct asr_build_result asr_build_result;

/* Compiles a grammar of n_bytes of UTF-8 text. *result is the caller's, freed with asr_build_free. Without a lexicon no word is
 * known.
 *   asr_build_jsgf     rules in JSGF
 *   asr_build_srgs     rules in the XML form of SRGS 1.0 (GRXML)
 *   asr_build_phrases  one of the phrases, a phrase a line, with tags: "call home {home}"; lines that begin with '#' and empty
 *                      ones do not count
 *   asr_build_words    the words, a word a line, in any number and order, as `senone graph --words`
 * Errors: ASR_INVALID_ARGUMENT, ASR_BAD_FILE, ASR_UNSUPPORTED, ASR_OUT_OF_MEMORY. Any thread. */
ASR_API asr_status asr_build_jsgf(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                                  asr_build_result **result);
ASR_API asr_status asr_build_srgs(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                                  asr_build_result **result);
ASR_API asr_status asr_build_phrases(const asr_builder *builder, const char *text, size_t n_bytes,
                                     const asr_build_config *config, asr_build_result **result);
ASR_API asr_status asr_build_words(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                                   asr_build_result **result);

/* The grammar of a result with the classes of its builder as they are now, in the time that joining takes. Its words and their
 * pronunciations are those that the lexicons had when it was built, those of a class those of when that was set. A grammar
 * without classes gives an equal result. *again is the caller's, freed with asr_build_free.
 * Errors: ASR_INVALID_ARGUMENT, ASR_BAD_FILE, ASR_UNSUPPORTED (the classes make it too large), ASR_OUT_OF_MEMORY. Any thread.
 */
ASR_API asr_status asr_build_again(const asr_builder *builder, const asr_build_result *result, asr_build_result **again);

typedef struct asr_build_info {
  size_t size;                /* set by the caller to sizeof(asr_build_info) */
  const void *bytes;          /* the graph archive; this and what follows are the result's */
  size_t n_bytes;             /* of it */
  const char *const *unknown; /* [n_unknown] words that no lexicon has, each once, in their order as bytes */
  size_t n_unknown;
  uint64_t n_arcs; /* of the graph */
  uint32_t n_states;
  uint32_t n_words;           /* word symbols: a word with other tags or of another rule is another one */
  const char *const *guessed; /* [n_guessed] words that the model of asr_builder_set_g2p pronounces, as unknown */
  size_t n_guessed;
  size_t n_classes; /* that the grammar uses */
} asr_build_info;

/* Fills *info. Errors: ASR_INVALID_ARGUMENT. Any thread. */
ASR_API asr_status asr_build_get_info(const asr_build_result *result, asr_build_info *info);

/* NULL is allowed. */
ASR_API void asr_build_free(asr_build_result *result);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BUILD_H */
