/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_build.h - libsenone_build: compiles grammars in the process, for asr_engine_add_graph_bytes. Since 0.2.0. It also finds
 * the times of words and phones in recordings whose text is known (asr_align, since 0.3.0), and searches scores of CTC networks
 * without a bundle (asr_ctc, since 0.3.0).
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

/* ---- CTC scores without a bundle (since 0.3.0) -----------------------------------------------------------------------
 *
 * Two searches of the scores of a network that was trained with CTC. They need neither a model nor an engine, compute on the
 * CPU in the thread of the call, and give exactly what other programs' decoders define (docs/drop-in.md). For words with times,
 * lattices and confidences use a bundle of tokens (docs/ctc.md).
 *
 *   asr_ctc_grammar_open(n_tokens, blank, arcs, n_arcs, finals, n_finals, &grammar);
 *   asr_ctc_search_open(grammar, NULL, &search);
 *   asr_ctc_search_feed(search, rows, n_rows, row_length);   as often as rows come
 *   asr_ctc_search_result(search, &phrase);                  with phrase.size set to sizeof(phrase)
 *   asr_ctc_search_close(search); asr_ctc_grammar_close(grammar);
 *
 * A grammar never changes, and any threads may use it. Its searches keep it, so that it may be closed before them. A search is
 * for one thread at a time. */

typedef struct asr_ctc_grammar asr_ctc_grammar;

/* Makes a grammar of phrases.
 *
 * n_tokens: of the network, 1..4194304. blank: the token of CTC that stands for nothing; it may be n_tokens.
 * arcs: [n_arcs][4]: from, to, token, id. States are numbered from 0, where phrases begin. token: 0..n_tokens, or negative for
 * an arc that takes no frame. id: what phrases with the arc contain, usually the token again; negative for nothing. finals:
 * [n_finals] states in which phrases end. grammar: receives the grammar, which the caller closes with asr_ctc_grammar_close.
 *
 * States that nothing tells apart become one, unless there are loops.
 *
 * Errors: ASR_INVALID_ARGUMENT (names the arc; also if no phrase is complete), ASR_UNSUPPORTED (too large, or an id without a
 *   token). */
ASR_API asr_status asr_ctc_grammar_open(uint32_t n_tokens, uint32_t blank, const int32_t *arcs, size_t n_arcs,
                                        const int32_t *finals, size_t n_finals, asr_ctc_grammar **grammar);

/* Writes a grammar to a file, and reads one, which the caller closes with asr_ctc_grammar_close.
 *
 * Errors: ASR_IO; asr_ctc_grammar_load: ASR_NOT_FOUND, ASR_BAD_FILE, too. */
ASR_API asr_status asr_ctc_grammar_save(const asr_ctc_grammar *grammar, const char *path);
ASR_API asr_status asr_ctc_grammar_load(const char *path, asr_ctc_grammar **grammar);

typedef struct asr_ctc_grammar_info {
  size_t size;       /* set by the caller to sizeof(asr_ctc_grammar_info) */
  uint32_t n_tokens; /* as given to asr_ctc_grammar_open */
  uint32_t blank;
  uint32_t n_states; /* after joining */
  uint32_t n_arcs;
} asr_ctc_grammar_info;

/* Fills *info. */
ASR_API asr_status asr_ctc_grammar_get_info(const asr_ctc_grammar *grammar, asr_ctc_grammar_info *info);

/* Closes a grammar. NULL is allowed. */
ASR_API void asr_ctc_grammar_close(asr_ctc_grammar *grammar);

/* asr_ctc_distinct says what makes the second best phrase another one than the best. */
typedef enum asr_ctc_distinct {
  ASR_CTC_DISTINCT_TIMES = 0, /* other ids, or the same, of which one that another could replace begins in another frame */
  ASR_CTC_DISTINCT_IDS = 1    /* other ids */
} asr_ctc_distinct;

typedef struct asr_ctc_search_config {
  size_t size;
  double beam; /* tokens whose log probability is further below the best one's of the grammar in a frame are not searched, >= 0;
                  0 (default): all are, and the result is exact */
  double token_bonus; /* subtracted from the cost for each id when phrases are compared, -1e6..1e6; default 0. Costs of results
                         are without it */
  asr_ctc_distinct distinct; /* default ASR_CTC_DISTINCT_TIMES */
  uint32_t reserved;         /* 0 */
} asr_ctc_search_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_ctc_search_config_default(asr_ctc_search_config *config);

typedef struct asr_ctc_search asr_ctc_search;

/* Opens a search.
 *
 * config: NULL for the defaults.
 * search: receives the search, which the caller closes with asr_ctc_search_close. */
ASR_API asr_status asr_ctc_search_open(const asr_ctc_grammar *grammar, const asr_ctc_search_config *config,
                                       asr_ctc_search **search);

/* Searches the next rows of log probabilities; -inf closes a token. All of them are searched when the call returns.
 *
 * rows: [n_rows][row_length]. row_length: beyond all tokens of the grammar, and the blank.
 *
 * Errors: ASR_INVALID_ARGUMENT (row_length), ASR_BAD_AUDIO (a value that is neither finite nor -inf; nothing is searched). */
ASR_API asr_status asr_ctc_search_feed(asr_ctc_search *search, const float *rows, size_t n_rows, size_t row_length);

typedef struct asr_ctc_phrase {
  size_t size;        /* set by the caller to sizeof(asr_ctc_phrase) */
  const int32_t *ids; /* [n_ids] of the best phrase; valid until the next call for the search */
  size_t n_ids;
  double best_cost;   /* sum of -log probabilities along its best path; infinity if no phrase fits */
  double second_cost; /* of the second best phrase; infinity if there is none */
} asr_ctc_phrase;

/* Fills *phrase with what is best if the rows end here. More rows may follow. */
ASR_API asr_status asr_ctc_search_result(asr_ctc_search *search, asr_ctc_phrase *phrase);

/* Begins the search anew. */
ASR_API asr_status asr_ctc_search_reset(asr_ctc_search *search);

/* Closes a search. NULL is allowed. */
ASR_API void asr_ctc_search_close(asr_ctc_search *search);

/* Makes a bundle of a graph that OpenFst made over the tokens of a network, such as TLG.fst, for engines with rows of
 * log-likelihoods (docs/ctc.md). It is what `senone import tokens` and `senone graph --hclg` make.
 *
 * graph_path: of type vector or const, with standard arcs; input labels are token number + 1, and 0 takes no frame.
 * words_path: its words.txt.
 * n_tokens: of a row; 0: as many as the graph has. blank: the blank of CTC.
 * frame_shift_ms: from one row to the next, 0.1..500.
 * out_path: the directory, which is made.
 *
 * Errors: ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO. */
ASR_API asr_status asr_ctc_bundle(const char *graph_path, const char *words_path, uint32_t n_tokens, uint32_t blank,
                                  double frame_shift_ms, const char *out_path);

/* A language model as a graph of OpenFst over words, by which sentences are scored again. It never changes, and any threads may
 * use it. */
typedef struct asr_ctc_lm asr_ctc_lm;

/* Opens a language model.
 *
 * graph_path: G.fst, of type vector or const, with standard arcs. Output labels are words; arcs without one are followed
 * without a word. words_path: its words.txt. lm: receives the model, which the caller closes with asr_ctc_lm_close.
 *
 * Errors: ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO. */
ASR_API asr_status asr_ctc_lm_open(const char *graph_path, const char *words_path, asr_ctc_lm **lm);

/* Sets *cost to that of the cheapest path with these words, -ln; infinity if there is none. words: [n_words] of words.txt, or
 * NULL if there are none. */
ASR_API asr_status asr_ctc_lm_cost(const asr_ctc_lm *lm, const uint32_t *words, size_t n_words, double *cost);

/* Closes a language model. NULL is allowed. */
ASR_API void asr_ctc_lm_close(asr_ctc_lm *lm);

/* A decoder of free texts: beams are texts, whose alignments are summed, and a language model scores their words. It never
 * changes, and any threads may use it. */
typedef struct asr_ctc_decoder asr_ctc_decoder;

typedef struct asr_ctc_decoder_config {
  size_t size;
  const char *const *labels; /* [n_labels] of a row's values; "": the blank, " ": between words */
  size_t n_labels;           /* 1..4194304 */
  uint32_t has_pieces;       /* 1: words begin with labels that begin with U+2581 instead; default 0 */
  uint32_t has_unigrams;     /* 1: unigrams are given */
  const char *lm_path; /* a language model in ARPA form, which may be packed, or of CMU Sphinx; NULL or "" (default): none */
  const char *const *unigrams; /* [n_unigrams] the words that are known; those that the model lacks do not count */
  size_t n_unigrams;
} asr_ctc_decoder_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_ctc_decoder_config_default(asr_ctc_decoder_config *config);

/* Opens a decoder.
 *
 * decoder: receives the decoder, which the caller closes with asr_ctc_decoder_close.
 *
 * Errors: ASR_NOT_FOUND, ASR_BAD_FILE, ASR_IO. */
ASR_API asr_status asr_ctc_decoder_open(const asr_ctc_decoder_config *config, asr_ctc_decoder **decoder);

/* Closes a decoder. NULL is allowed. */
ASR_API void asr_ctc_decoder_close(asr_ctc_decoder *decoder);

typedef struct asr_ctc_decode_config {
  size_t size;
  uint32_t beam_width;         /* maximum number of beams, 1..1000000; default 100 */
  uint32_t prune_history;      /* 1: of beams that the language model cannot tell apart the best is kept; default 0 */
  double beam_prune_logp;      /* beams that are worse than the best by more are dropped; default -10 */
  double token_min_logp;       /* labels that are less probable are not searched, except a frame's best; default -5 */
  const char *const *hotwords; /* [n_hotwords] words that are more probable than the model says */
  size_t n_hotwords;
  double hotword_weight;      /* added for each, and its share for the beginning of one; default 10 */
  double alpha;               /* factor of the ln p of the language model; default 0.5 */
  double beta;                /* added for each word; default 1.5 */
  double unk_score_offset;    /* log10, added for words that are not known; default -10 */
  uint32_t lm_score_boundary; /* 1 (default): texts are sentences, with a beginning and an end */
  uint32_t has_start_state;   /* 1: start_state is given */
  uint64_t start_state;       /* asr_ctc_beam.lm_state of a text before; 0 if nothing is before */
} asr_ctc_decode_config;

/* Fills *config with the defaults and its size. */
ASR_API void asr_ctc_decode_config_default(asr_ctc_decode_config *config);

typedef struct asr_ctc_beams asr_ctc_beams;

/* Decodes the log probabilities of an utterance.
 *
 * log_probs: [n_rows][n_labels], finite.
 * config: NULL for the defaults.
 * beams: receives the texts, which the caller frees with asr_ctc_beams_free.
 *
 * Errors: ASR_BAD_AUDIO (a value that is not finite). */
ASR_API asr_status asr_ctc_decode(const asr_ctc_decoder *decoder, const double *log_probs, size_t n_rows,
                                  const asr_ctc_decode_config *config, asr_ctc_beams **beams);

/* Returns the number of texts, at least 1; 0 for NULL. */
ASR_API size_t asr_ctc_beams_count(const asr_ctc_beams *beams);

typedef struct asr_ctc_beam {
  size_t size;                 /* set by the caller to sizeof(asr_ctc_beam) */
  const char *text;            /* words between blanks; the beams own this and the arrays */
  const int32_t *start_frames; /* [n_words] the first frame of each word */
  const int32_t *end_frames;   /* [n_words] the frame behind its last */
  size_t n_words;
  double logit_score; /* ln of the probability by the rows */
  double lm_score;    /* the same with all that the language model and hotwords add */
  uint64_t lm_state;  /* for asr_ctc_decode_config.start_state of this decoder */
} asr_ctc_beam;

/* Fills *beam. index: below asr_ctc_beams_count; the best text is 0. */
ASR_API asr_status asr_ctc_beams_get(const asr_ctc_beams *beams, size_t index, asr_ctc_beam *beam);

/* Frees the texts. NULL is allowed. */
ASR_API void asr_ctc_beams_free(asr_ctc_beams *beams);

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BUILD_H */
