// SPDX-License-Identifier: Apache-2.0
// senone_build.hpp - grammars compiled in the process, and alignment, for C++17: a header over asr_build.h. asr_build.h remains
// the manual. A program links libsenone_build, and libsenone only if it also recognises.
//
//   senone::GrammarBuilder builder("bundle");           builder.add_lexicon("words.dict");
//   senone::Grammar menu = builder.jsgf(text);          engine.add_graph_bytes("menu", menu.bytes());
//   senone::Aligner aligner("bundle", "cmudict.dict");  for (auto word : aligner.align(samples, n, text).words()) ...
//   senone::CtcSearch search(grammar);                  search.feed(rows, n_rows, row_length);  search.result() ...
//
// HANDLES   GrammarBuilder, Grammar, Aligner, Alignment and those of CTC own their objects and can be moved, not copied. One
//           that was moved from or default-constructed is empty: it converts to false, and may only be assigned to and
//           destroyed.
// TEXT      Text is never copied: bytes and unknown words belong to their Grammar, which outlives its builder.
// ERRORS    Errors are as in senone.hpp: senone::Error with the library's message, thrown, or in the Expected of a try_
//           function.
// THREADS   Any threads may use a builder or a grammar at once. Destroying or moving one must not happen at the same time.
#ifndef SENONE_BUILD_HPP
#define SENONE_BUILD_HPP

#include <asr_build.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <senone.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace senone {

namespace detail {

// Returns the Error of this thread's last call of libsenone_build, which failed.
inline Error last_build_error(asr_status status) { return Error(status, asr_build_last_error()); }

inline Expected<void> build_outcome(asr_status status) {
  return status == ASR_OK ? Expected<void>() : Expected<void>(last_build_error(status));
}

// Returns a pointer to the text; never NULL, which the library refuses.
inline const char *data_of(std::string_view text) noexcept { return text.empty() ? "" : text.data(); }

}  // namespace detail

// The fields of asr_build_config with their defaults.
struct BuildConfig : asr_build_config {
  BuildConfig() noexcept : asr_build_config() { asr_build_config_default(this); }
};

// Distinct words of a grammar, in byte order.
class BuildWords : public detail::Range<BuildWords> {
 public:
  BuildWords(const char *const *words, std::size_t n) : words_(words), n_(n) {}

  std::size_t size() const noexcept { return n_; }
  std::string_view operator[](std::size_t index) const noexcept { return words_[index]; }

 private:
  const char *const *words_;
  std::size_t n_;
};

// Grammar is a compiled grammar: a graph archive.
class Grammar {
 public:
  Grammar() = default;
  explicit Grammar(asr_build_result *result) noexcept : handle_(result) {}  // takes ownership

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Returns the archive, for Engine::add_graph_bytes or a file.
  std::string_view bytes() const {
    const asr_build_info found = info();
    return {static_cast<const char *>(found.bytes), found.n_bytes};
  }
  // Returns the words in no lexicon; they were dropped, with ASR_BUILD_DROP_UNKNOWN.
  BuildWords unknown() const {
    const asr_build_info found = info();
    return {found.unknown, found.n_unknown};
  }
  // Returns the words pronounced by the model of GrammarBuilder::set_g2p.
  BuildWords guessed() const {
    const asr_build_info found = info();
    return {found.guessed, found.n_guessed};
  }
  std::size_t n_classes() const { return info().n_classes; }  // number of classes that the grammar uses
  std::uint32_t n_states() const { return info().n_states; }
  std::uint64_t n_arcs() const { return info().n_arcs; }
  std::uint32_t n_words() const { return info().n_words; }  // word symbols: one per combination of word, tags and rule

  const asr_build_result *get() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(asr_build_result *result) const noexcept { asr_build_free(result); }
  };

  asr_build_info info() const {
    auto info = detail::sized<asr_build_info>();
    detail::build_outcome(asr_build_get_info(get(), &info)).value();
    return info;
  }

  std::unique_ptr<asr_build_result, Free> handle_;
};

// GrammarBuilder compiles grammars for the model of a bundle. Words come from the lexicons added before.
class GrammarBuilder {
 public:
  GrammarBuilder() = default;
  explicit GrammarBuilder(const std::string &bundle) : GrammarBuilder(try_open(bundle).value()) {}
  static Expected<GrammarBuilder> try_open(const std::string &bundle) {
    asr_builder *builder = nullptr;
    const asr_status status = asr_builder_open(bundle.c_str(), &builder);
    if (status != ASR_OK) return detail::last_build_error(status);
    return GrammarBuilder(builder);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  asr_builder *get() const noexcept { return handle_.get(); }

  // Adds the words of a dictionary in CMU Sphinx form.
  void add_lexicon(const std::string &path) { try_add_lexicon(path).value(); }
  Expected<void> try_add_lexicon(const std::string &path) {
    return detail::build_outcome(asr_builder_add_lexicon(get(), path.c_str()));
  }

  // Adds a dictionary given as text; messages call it `name`.
  void add_lexicon_text(std::string_view text, const std::string &name = "lexicon") {
    try_add_lexicon_text(text, name).value();
  }
  Expected<void> try_add_lexicon_text(std::string_view text, const std::string &name = "lexicon") {
    return detail::build_outcome(asr_builder_add_lexicon_text(get(), detail::data_of(text), text.size(), name.c_str()));
  }

  // Lets a model of `senone g2p` pronounce words in no lexicon, up to n_best ways each; "" for the path removes the model.
  void set_g2p(const std::string &path, std::uint32_t n_best = 1) { try_set_g2p(path, n_best).value(); }
  Expected<void> try_set_g2p(const std::string &path, std::uint32_t n_best = 1) {
    return detail::build_outcome(asr_builder_set_g2p(get(), path.empty() ? nullptr : path.c_str(), n_best));
  }

  // Sets the phrases that grammars use as $name, one per line; add_to_class keeps the existing ones.
  void set_class(const std::string &name, std::string_view phrases, const BuildConfig &config = BuildConfig()) {
    try_set_class(name, phrases, config).value();
  }
  Expected<void> try_set_class(const std::string &name, std::string_view phrases, const BuildConfig &config = BuildConfig()) {
    return detail::build_outcome(asr_builder_set_class(get(), name.c_str(), detail::data_of(phrases), phrases.size(), &config));
  }
  void add_to_class(const std::string &name, std::string_view phrases, const BuildConfig &config = BuildConfig()) {
    try_add_to_class(name, phrases, config).value();
  }
  Expected<void> try_add_to_class(const std::string &name, std::string_view phrases,
                                  const BuildConfig &config = BuildConfig()) {
    return detail::build_outcome(
        asr_builder_add_to_class(get(), name.c_str(), detail::data_of(phrases), phrases.size(), &config));
  }

  // Rebuilds a grammar of this builder with the current classes.
  Grammar build_again(const Grammar &grammar) const { return try_build_again(grammar).value(); }
  Expected<Grammar> try_build_again(const Grammar &grammar) const {
    asr_build_result *result = nullptr;
    const asr_status status = asr_build_again(get(), grammar.get(), &result);
    if (status != ASR_OK) return detail::last_build_error(status);
    return Grammar(result);
  }

  // Compiles rules in JSGF, or in the XML form of SRGS 1.0.
  Grammar jsgf(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return try_jsgf(text, config).value();
  }
  Expected<Grammar> try_jsgf(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return compile(asr_build_jsgf, text, config);
  }
  Grammar srgs(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return try_srgs(text, config).value();
  }
  Expected<Grammar> try_srgs(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return compile(asr_build_srgs, text, config);
  }

  // Compiles a choice of phrases, one per line.
  Grammar phrases(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return try_phrases(text, config).value();
  }
  Expected<Grammar> try_phrases(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return compile(asr_build_phrases, text, config);
  }

  // Compiles words, one per line, spoken in any number and order.
  Grammar words(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return try_words(text, config).value();
  }
  Expected<Grammar> try_words(std::string_view text, const BuildConfig &config = BuildConfig()) const {
    return compile(asr_build_words, text, config);
  }

 private:
  struct Close {
    void operator()(asr_builder *builder) const noexcept { asr_builder_close(builder); }
  };
  explicit GrammarBuilder(asr_builder *builder) : handle_(builder) {}

  using Compile = asr_status (*)(const asr_builder *, const char *, std::size_t, const asr_build_config *, asr_build_result **);

  Expected<Grammar> compile(Compile function, std::string_view text, const BuildConfig &config) const {
    asr_build_result *result = nullptr;
    const asr_status status = function(get(), detail::data_of(text), text.size(), &config, &result);
    if (status != ASR_OK) return detail::last_build_error(status);
    return Grammar(result);
  }

  std::unique_ptr<asr_builder, Close> handle_;
};

// The fields of asr_align_config with their defaults.
struct AlignConfig : asr_align_config {
  AlignConfig() noexcept : asr_align_config() { asr_align_config_default(this); }
};

// The fields of asr_aligner_config with their defaults.
struct AlignerConfig : asr_aligner_config {
  AlignerConfig() noexcept : asr_aligner_config() { asr_aligner_config_default(this); }
};

// Phones of an alignment, or those of one of its words.
class AlignedPhones : public detail::Range<AlignedPhones> {
 public:
  AlignedPhones(const asr_alignment *alignment, std::size_t first, std::size_t n)
      : alignment_(alignment), first_(first), n_(n) {}

  std::size_t size() const noexcept { return n_; }
  asr_aligned_phone operator[](std::size_t index) const {
    auto phone = detail::sized<asr_aligned_phone>();
    detail::build_outcome(asr_alignment_phone(alignment_, first_ + index, &phone)).value();
    return phone;
  }

 private:
  const asr_alignment *alignment_;
  std::size_t first_, n_;
};

// Words of an alignment in the order of their times.
class AlignedWords : public detail::Range<AlignedWords> {
 public:
  AlignedWords(const asr_alignment *alignment, std::size_t n) : alignment_(alignment), n_(n) {}

  std::size_t size() const noexcept { return n_; }
  asr_aligned_word operator[](std::size_t index) const {
    auto word = detail::sized<asr_aligned_word>();
    detail::build_outcome(asr_alignment_word(alignment_, index, &word)).value();
    return word;
  }

 private:
  const asr_alignment *alignment_;
  std::size_t n_;
};

// Alignment has the times of a recording's words and phones.
class Alignment {
 public:
  Alignment() = default;
  explicit Alignment(asr_alignment *alignment) noexcept : handle_(alignment) {}  // takes ownership

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  const asr_alignment *get() const noexcept { return handle_.get(); }

  AlignedWords words() const { return {get(), info().n_words}; }
  AlignedPhones phones() const { return {get(), 0, info().n_phones}; }
  AlignedPhones phones(const asr_aligned_word &word) const { return {get(), word.first_phone, word.n_phones}; }
  // Returns duration_s, and the numbers of the text's words that are not said.
  asr_alignment_info info() const {
    auto info = detail::sized<asr_alignment_info>();
    detail::build_outcome(asr_alignment_get_info(get(), &info)).value();
    return info;
  }

 private:
  struct Free {
    void operator()(asr_alignment *alignment) const noexcept { asr_alignment_free(alignment); }
  };
  std::unique_ptr<asr_alignment, Free> handle_;
};

// Aligner aligns recordings with their texts, with the model of a bundle and a dictionary.
class Aligner {
 public:
  Aligner() = default;
  Aligner(const std::string &bundle, const std::string &lexicon, const AlignerConfig &config = AlignerConfig())
      : Aligner(try_open(bundle, lexicon, config).value()) {}
  static Expected<Aligner> try_open(const std::string &bundle, const std::string &lexicon,
                                    const AlignerConfig &config = AlignerConfig()) {
    asr_aligner *aligner = nullptr;
    const asr_status status = asr_aligner_open(bundle.c_str(), lexicon.c_str(), &config, &aligner);
    if (status != ASR_OK) return detail::last_build_error(status);
    return Aligner(aligner);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  asr_aligner *get() const noexcept { return handle_.get(); }

  // Aligns a recording of n samples per channel; config.input is their type.
  Alignment align(const void *samples, std::size_t n, std::string_view text, const AlignConfig &config = AlignConfig()) const {
    return try_align(samples, n, text, config).value();
  }
  Expected<Alignment> try_align(const void *samples, std::size_t n, std::string_view text,
                                const AlignConfig &config = AlignConfig()) const {
    asr_alignment *alignment = nullptr;
    const asr_status status = asr_align(get(), samples, n, detail::data_of(text), text.size(), &config, &alignment);
    if (status != ASR_OK) return detail::last_build_error(status);
    return Alignment(alignment);
  }

 private:
  struct Close {
    void operator()(asr_aligner *aligner) const noexcept { asr_aligner_close(aligner); }
  };
  explicit Aligner(asr_aligner *aligner) : handle_(aligner) {}

  std::unique_ptr<asr_aligner, Close> handle_;
};

// CtcGrammar is a grammar of phrases over the tokens of a network, without a bundle. Searches keep it.
class CtcGrammar {
 public:
  CtcGrammar() = default;
  // arcs: [n][4], from, to, token, id; finals: states in which phrases end, as asr_ctc_grammar_open says.
  CtcGrammar(std::uint32_t n_tokens, std::uint32_t blank, const std::vector<std::array<std::int32_t, 4>> &arcs,
             const std::vector<std::int32_t> &finals)
      : CtcGrammar(try_make(n_tokens, blank, arcs, finals).value()) {}
  static Expected<CtcGrammar> try_make(std::uint32_t n_tokens, std::uint32_t blank,
                                       const std::vector<std::array<std::int32_t, 4>> &arcs,
                                       const std::vector<std::int32_t> &finals) {
    asr_ctc_grammar *grammar = nullptr;
    const asr_status status = asr_ctc_grammar_open(n_tokens, blank, arcs.empty() ? nullptr : arcs.front().data(), arcs.size(),
                                                   finals.data(), finals.size(), &grammar);
    if (status != ASR_OK) return detail::last_build_error(status);
    return CtcGrammar(grammar);
  }
  static CtcGrammar load(const std::string &path) { return try_load(path).value(); }
  static Expected<CtcGrammar> try_load(const std::string &path) {
    asr_ctc_grammar *grammar = nullptr;
    const asr_status status = asr_ctc_grammar_load(path.c_str(), &grammar);
    if (status != ASR_OK) return detail::last_build_error(status);
    return CtcGrammar(grammar);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  const asr_ctc_grammar *get() const noexcept { return handle_.get(); }

  void save(const std::string &path) const { try_save(path).value(); }
  Expected<void> try_save(const std::string &path) const {
    return detail::build_outcome(asr_ctc_grammar_save(get(), path.c_str()));
  }
  asr_ctc_grammar_info info() const {
    auto info = detail::sized<asr_ctc_grammar_info>();
    detail::build_outcome(asr_ctc_grammar_get_info(get(), &info)).value();
    return info;
  }

 private:
  struct Close {
    void operator()(asr_ctc_grammar *grammar) const noexcept { asr_ctc_grammar_close(grammar); }
  };
  explicit CtcGrammar(asr_ctc_grammar *grammar) : handle_(grammar) {}

  std::unique_ptr<asr_ctc_grammar, Close> handle_;
};

// The fields of asr_ctc_search_config with their defaults.
struct CtcSearchConfig : asr_ctc_search_config {
  CtcSearchConfig() noexcept : asr_ctc_search_config() { asr_ctc_search_config_default(this); }
};

// CtcSearch finds the best phrase of a grammar while rows of log probabilities come. For one thread at a time.
class CtcSearch {
 public:
  CtcSearch() = default;
  explicit CtcSearch(const CtcGrammar &grammar, const CtcSearchConfig &config = CtcSearchConfig())
      : CtcSearch(try_open(grammar, config).value()) {}
  static Expected<CtcSearch> try_open(const CtcGrammar &grammar, const CtcSearchConfig &config = CtcSearchConfig()) {
    asr_ctc_search *search = nullptr;
    const asr_status status = asr_ctc_search_open(grammar.get(), &config, &search);
    if (status != ASR_OK) return detail::last_build_error(status);
    return CtcSearch(search);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // rows: [n_rows][row_length].
  void feed(const float *rows, std::size_t n_rows, std::size_t row_length) { try_feed(rows, n_rows, row_length).value(); }
  Expected<void> try_feed(const float *rows, std::size_t n_rows, std::size_t row_length) {
    return detail::build_outcome(asr_ctc_search_feed(handle_.get(), rows, n_rows, row_length));
  }
  // Returns what is best if the rows end here; its ids are valid until the next call.
  asr_ctc_phrase result() { return try_result().value(); }
  Expected<asr_ctc_phrase> try_result() {
    auto phrase = detail::sized<asr_ctc_phrase>();
    const asr_status status = asr_ctc_search_result(handle_.get(), &phrase);
    if (status != ASR_OK) return detail::last_build_error(status);
    return phrase;
  }
  void reset() { detail::build_outcome(asr_ctc_search_reset(handle_.get())).value(); }

 private:
  struct Close {
    void operator()(asr_ctc_search *search) const noexcept { asr_ctc_search_close(search); }
  };
  explicit CtcSearch(asr_ctc_search *search) : handle_(search) {}

  std::unique_ptr<asr_ctc_search, Close> handle_;
};

// Makes a bundle of a graph of OpenFst over tokens, such as TLG.fst: asr_ctc_bundle.
inline Expected<void> try_make_ctc_bundle(const std::string &graph, const std::string &words, std::uint32_t n_tokens,
                                          std::uint32_t blank, double frame_shift_ms, const std::string &out) {
  return detail::build_outcome(asr_ctc_bundle(graph.c_str(), words.c_str(), n_tokens, blank, frame_shift_ms, out.c_str()));
}
inline void make_ctc_bundle(const std::string &graph, const std::string &words, std::uint32_t n_tokens, std::uint32_t blank,
                            double frame_shift_ms, const std::string &out) {
  try_make_ctc_bundle(graph, words, n_tokens, blank, frame_shift_ms, out).value();
}

// CtcLanguageModel is a G.fst, by which sentences are scored again.
class CtcLanguageModel {
 public:
  CtcLanguageModel() = default;
  CtcLanguageModel(const std::string &graph, const std::string &words) : CtcLanguageModel(try_open(graph, words).value()) {}
  static Expected<CtcLanguageModel> try_open(const std::string &graph, const std::string &words) {
    asr_ctc_lm *lm = nullptr;
    const asr_status status = asr_ctc_lm_open(graph.c_str(), words.c_str(), &lm);
    if (status != ASR_OK) return detail::last_build_error(status);
    return CtcLanguageModel(lm);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Returns the cost of the cheapest path with these words, -ln; infinity if there is none.
  double cost(const std::vector<std::uint32_t> &words) const {
    double cost = 0;
    detail::build_outcome(asr_ctc_lm_cost(handle_.get(), words.data(), words.size(), &cost)).value();
    return cost;
  }

 private:
  struct Close {
    void operator()(asr_ctc_lm *lm) const noexcept { asr_ctc_lm_close(lm); }
  };
  explicit CtcLanguageModel(asr_ctc_lm *lm) : handle_(lm) {}

  std::unique_ptr<asr_ctc_lm, Close> handle_;
};

// The fields of asr_ctc_decoder_config and asr_ctc_decode_config with their defaults.
struct CtcDecoderConfig : asr_ctc_decoder_config {
  CtcDecoderConfig() noexcept : asr_ctc_decoder_config() { asr_ctc_decoder_config_default(this); }
};
struct CtcDecodeConfig : asr_ctc_decode_config {
  CtcDecodeConfig() noexcept : asr_ctc_decode_config() { asr_ctc_decode_config_default(this); }
};

// CtcBeams are the texts of an utterance, the best first.
class CtcBeams : public detail::Range<CtcBeams> {
 public:
  explicit CtcBeams(asr_ctc_beams *beams) noexcept : handle_(beams) {}  // takes ownership

  std::size_t size() const noexcept { return asr_ctc_beams_count(handle_.get()); }
  asr_ctc_beam operator[](std::size_t index) const {
    auto beam = detail::sized<asr_ctc_beam>();
    detail::build_outcome(asr_ctc_beams_get(handle_.get(), index, &beam)).value();
    return beam;
  }

 private:
  struct Free {
    void operator()(asr_ctc_beams *beams) const noexcept { asr_ctc_beams_free(beams); }
  };

  std::unique_ptr<asr_ctc_beams, Free> handle_;
};

// CtcDecoder finds free texts: beams whose alignments are summed.
class CtcDecoder {
 public:
  CtcDecoder() = default;
  explicit CtcDecoder(const CtcDecoderConfig &config) : CtcDecoder(try_open(config).value()) {}
  static Expected<CtcDecoder> try_open(const CtcDecoderConfig &config) {
    asr_ctc_decoder *decoder = nullptr;
    const asr_status status = asr_ctc_decoder_open(&config, &decoder);
    if (status != ASR_OK) return detail::last_build_error(status);
    return CtcDecoder(decoder);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // log_probs: [n_rows][n_labels].
  CtcBeams decode(const double *log_probs, std::size_t n_rows, const CtcDecodeConfig &config = CtcDecodeConfig()) const {
    return try_decode(log_probs, n_rows, config).value();
  }
  Expected<CtcBeams> try_decode(const double *log_probs, std::size_t n_rows,
                                const CtcDecodeConfig &config = CtcDecodeConfig()) const {
    asr_ctc_beams *beams = nullptr;
    const asr_status status = asr_ctc_decode(handle_.get(), log_probs, n_rows, &config, &beams);
    if (status != ASR_OK) return detail::last_build_error(status);
    return CtcBeams(beams);
  }

 private:
  struct Close {
    void operator()(asr_ctc_decoder *decoder) const noexcept { asr_ctc_decoder_close(decoder); }
  };
  explicit CtcDecoder(asr_ctc_decoder *decoder) : handle_(decoder) {}

  std::unique_ptr<asr_ctc_decoder, Close> handle_;
};

}  // namespace senone
#endif  // SENONE_BUILD_HPP
