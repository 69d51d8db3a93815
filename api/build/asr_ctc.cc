// SPDX-License-Identifier: Apache-2.0
// The functions asr_ctc* of asr_build.h: handles, argument checks and calls of builder/ctc.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "api/fill.h"
#include "api/guard.h"
#include "asr_build.h"
#include "builder/ctc/fst_lm.h"
#include "builder/ctc/phrase_search.h"
#include "builder/ctc/prefix_search.h"
#include "builder/graph/trie_lm.h"
#include "builder/import/token_graph.h"
#include "core/base/limits.h"

using asr::api::check_range;
using asr::api::check_size;
using asr::api::fill;
using asr::api::guard;
using asr::api::number;
using asr::api::require;
using asr::api::resized;

struct asr_ctc_grammar {
  const std::shared_ptr<const asr::PhraseGraph> graph;
};

struct asr_ctc_search {
  asr::PhraseSearch search;
  asr::PhraseResult result;
};

struct asr_ctc_lm {
  const asr::FstLm lm;
};

struct asr_ctc_decoder {
  asr::CtcLabels labels;
  std::unique_ptr<const asr::WordLm> lm;
};

struct asr_ctc_beams {
  const std::vector<asr::PrefixBeam> beams;
};

namespace {

constexpr double kMost = std::numeric_limits<double>::max();

// The strings of an array of the caller; `name` is of the array.
std::vector<std::string> strings(const char *const *texts, size_t n, const char *function, const char *name) {
  if (n > 0) require(texts, function, name);
  std::vector<std::string> result;
  result.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (texts[i] == nullptr) asr::fail(ASR_INVALID_ARGUMENT, "%s: %s[%zu] is NULL", function, name, i);
    result.emplace_back(texts[i]);
  }
  return result;
}

asr::PrefixOptions read_config(const asr_ctc_decode_config *config) {
  const asr_ctc_decode_config c = resized(config, asr_ctc_decode_config_default, "asr_ctc_decode_config");
  check_range(c.beam_width, 1u, 1000000u, "asr_ctc_decode_config.beam_width");
  check_range(c.prune_history, 0u, 1u, "asr_ctc_decode_config.prune_history");
  check_range(c.lm_score_boundary, 0u, 1u, "asr_ctc_decode_config.lm_score_boundary");
  check_range(c.has_start_state, 0u, 1u, "asr_ctc_decode_config.has_start_state");
  const std::pair<const char *, double> numbers[] = {{"beam_prune_logp", c.beam_prune_logp},
                                                     {"hotword_weight", c.hotword_weight},
                                                     {"alpha", c.alpha},
                                                     {"beta", c.beta},
                                                     {"unk_score_offset", c.unk_score_offset}};
  for (const auto &[name, value] : numbers) {
    check_range(value, -kMost, kMost, asr::format("asr_ctc_decode_config.%s", name).c_str());
  }
  if (c.token_min_logp != c.token_min_logp) asr::fail(ASR_INVALID_ARGUMENT, "asr_ctc_decode_config.token_min_logp is NaN");
  asr::PrefixOptions options;
  options.beam_width = c.beam_width;
  options.beam_prune_logp = std::min(c.beam_prune_logp, 0.0);  // above 0 not even the best beam would stay
  options.token_min_logp = c.token_min_logp;
  options.prune_history = c.prune_history == 1;
  options.hotwords = strings(c.hotwords, c.n_hotwords, "asr_ctc_decode", "config->hotwords");
  options.hotword_weight = c.hotword_weight;
  options.alpha = c.alpha;
  options.beta = c.beta;
  options.unk_score_offset = c.unk_score_offset;
  options.lm_score_boundary = c.lm_score_boundary == 1;
  options.has_start_state = c.has_start_state == 1;
  options.start_state = c.start_state;
  return options;
}

}  // namespace

asr_status asr_ctc_grammar_open(uint32_t n_tokens, uint32_t blank, const int32_t *arcs, size_t n_arcs, const int32_t *finals,
                                size_t n_finals, asr_ctc_grammar **grammar) {
  return guard([&] {
    require(arcs, "asr_ctc_grammar_open", "arcs");
    require(finals, "asr_ctc_grammar_open", "finals");
    require(grammar, "asr_ctc_grammar_open", "grammar");
    if (n_arcs > asr::kMaxJoinedArcs || n_finals > asr::kMaxJoinedStates) {
      asr::fail(ASR_UNSUPPORTED, "asr_ctc_grammar_open: %zu arcs and %zu final states; the most are %u and %u", n_arcs,
                n_finals, asr::kMaxJoinedArcs, asr::kMaxJoinedStates);
    }
    std::vector<asr::PhraseArc> copied(n_arcs);
    if (n_arcs > 0) memcpy(copied.data(), arcs, n_arcs * sizeof(asr::PhraseArc));
    *grammar = new asr_ctc_grammar{std::make_shared<const asr::PhraseGraph>(
        asr::make_phrase_graph(n_tokens, blank, copied, {finals, finals + n_finals}, "phrases"))};
  });
}

asr_status asr_ctc_grammar_save(const asr_ctc_grammar *grammar, const char *path) {
  return guard([&] {
    require(grammar, "asr_ctc_grammar_save", "grammar");
    require(path, "asr_ctc_grammar_save", "path");
    asr::write_phrase_graph(*grammar->graph, path);
  });
}

asr_status asr_ctc_grammar_load(const char *path, asr_ctc_grammar **grammar) {
  return guard([&] {
    require(path, "asr_ctc_grammar_load", "path");
    require(grammar, "asr_ctc_grammar_load", "grammar");
    *grammar = new asr_ctc_grammar{std::make_shared<const asr::PhraseGraph>(asr::read_phrase_graph(path))};
  });
}

asr_status asr_ctc_grammar_get_info(const asr_ctc_grammar *grammar, asr_ctc_grammar_info *info) {
  return guard([&] {
    require(grammar, "asr_ctc_grammar_get_info", "grammar");
    require(info, "asr_ctc_grammar_get_info", "info");
    asr_ctc_grammar_info value{};
    value.n_tokens = grammar->graph->n_tokens;
    value.blank = grammar->graph->blank;
    value.n_states = static_cast<uint32_t>(grammar->graph->n_states());
    value.n_arcs = static_cast<uint32_t>(grammar->graph->arcs.size());
    fill(info, value, "asr_ctc_grammar_get_info: info->size");
  });
}

void asr_ctc_grammar_close(asr_ctc_grammar *grammar) { delete grammar; }

void asr_ctc_search_config_default(asr_ctc_search_config *config) {
  if (config == nullptr) return;
  *config = {};
  config->size = sizeof(*config);
}

asr_status asr_ctc_search_open(const asr_ctc_grammar *grammar, const asr_ctc_search_config *config, asr_ctc_search **search) {
  return guard([&] {
    require(grammar, "asr_ctc_search_open", "grammar");
    require(search, "asr_ctc_search_open", "search");
    const asr_ctc_search_config c = resized(config, asr_ctc_search_config_default, "asr_ctc_search_config");
    check_range(c.beam, 0.0, kMost, "asr_ctc_search_config.beam");
    check_range(c.token_bonus, -1e6, 1e6, "asr_ctc_search_config.token_bonus");
    check_range<int>(number(c.distinct), ASR_CTC_DISTINCT_TIMES, ASR_CTC_DISTINCT_IDS, "asr_ctc_search_config.distinct");
    check_range(c.reserved, 0u, 0u, "asr_ctc_search_config.reserved");
    const bool by_ids = number(c.distinct) == ASR_CTC_DISTINCT_IDS;
    const asr::PhraseOptions options{c.beam, c.token_bonus, by_ids ? asr::Distinct::kIds : asr::Distinct::kTimes};
    *search = new asr_ctc_search{asr::PhraseSearch(grammar->graph, options), {}};
  });
}

asr_status asr_ctc_search_feed(asr_ctc_search *search, const float *rows, size_t n_rows, size_t row_length) {
  return guard([&] {
    require(search, "asr_ctc_search_feed", "search");
    if (n_rows == 0) return;
    require(rows, "asr_ctc_search_feed", "rows");
    search->search.feed(rows, n_rows, row_length);
  });
}

asr_status asr_ctc_search_result(asr_ctc_search *search, asr_ctc_phrase *phrase) {
  return guard([&] {
    require(search, "asr_ctc_search_result", "search");
    require(phrase, "asr_ctc_search_result", "phrase");
    check_size<asr_ctc_phrase>(phrase->size, "asr_ctc_search_result: phrase->size");
    search->result = search->search.result();
    constexpr double kNever = std::numeric_limits<double>::infinity();
    asr_ctc_phrase value{};
    value.ids = search->result.ids.data();
    value.n_ids = search->result.ids.size();
    value.best_cost = search->result.has_best ? search->result.best_cost : kNever;
    value.second_cost = search->result.has_second ? search->result.second_cost : kNever;
    fill(phrase, value, "asr_ctc_search_result: phrase->size");
  });
}

asr_status asr_ctc_search_reset(asr_ctc_search *search) {
  return guard([&] {
    require(search, "asr_ctc_search_reset", "search");
    search->search.reset();
  });
}

void asr_ctc_search_close(asr_ctc_search *search) { delete search; }

asr_status asr_ctc_bundle(const char *graph_path, const char *words_path, uint32_t n_tokens, uint32_t blank,
                          double frame_shift_ms, const char *out_path) {
  return guard([&] {
    require(graph_path, "asr_ctc_bundle", "graph_path");
    require(words_path, "asr_ctc_bundle", "words_path");
    require(out_path, "asr_ctc_bundle", "out_path");
    check_range(frame_shift_ms, 0.1, 500.0, "asr_ctc_bundle: frame_shift_ms");
    asr::write_token_graph({graph_path, words_path, n_tokens, blank, frame_shift_ms}, out_path);
  });
}

asr_status asr_ctc_lm_open(const char *graph_path, const char *words_path, asr_ctc_lm **lm) {
  return guard([&] {
    require(graph_path, "asr_ctc_lm_open", "graph_path");
    require(words_path, "asr_ctc_lm_open", "words_path");
    require(lm, "asr_ctc_lm_open", "lm");
    *lm = new asr_ctc_lm{asr::FstLm(graph_path, words_path)};
  });
}

asr_status asr_ctc_lm_cost(const asr_ctc_lm *lm, const uint32_t *words, size_t n_words, double *cost) {
  return guard([&] {
    require(lm, "asr_ctc_lm_cost", "lm");
    if (n_words > 0) require(words, "asr_ctc_lm_cost", "words");
    require(cost, "asr_ctc_lm_cost", "cost");
    *cost = lm->lm.cost(words, n_words);
  });
}

void asr_ctc_lm_close(asr_ctc_lm *lm) { delete lm; }

void asr_ctc_decoder_config_default(asr_ctc_decoder_config *config) {
  if (config == nullptr) return;
  *config = {};
  config->size = sizeof(*config);
}

asr_status asr_ctc_decoder_open(const asr_ctc_decoder_config *config, asr_ctc_decoder **decoder) {
  return guard([&] {
    require(config, "asr_ctc_decoder_open", "config");
    require(decoder, "asr_ctc_decoder_open", "decoder");
    const asr_ctc_decoder_config c = resized(config, asr_ctc_decoder_config_default, "asr_ctc_decoder_config");
    check_range<size_t>(c.n_labels, 1, asr::kMaxPdfs, "asr_ctc_decoder_config.n_labels");
    check_range(c.has_pieces, 0u, 1u, "asr_ctc_decoder_config.has_pieces");
    check_range(c.has_unigrams, 0u, 1u, "asr_ctc_decoder_config.has_unigrams");
    auto made = std::make_unique<asr_ctc_decoder>();
    made->labels.labels = strings(c.labels, c.n_labels, "asr_ctc_decoder_open", "config->labels");
    made->labels.has_pieces = c.has_pieces == 1;
    const std::vector<std::string> unigrams = strings(c.unigrams, c.n_unigrams, "asr_ctc_decoder_open", "config->unigrams");
    if (c.lm_path != nullptr && *c.lm_path != '\0') {
      // Words stay as they are, since those of labels do.
      asr::NgramModel model = asr::read_language_model(c.lm_path, asr::Characters::kAsTheyAre);
      made->lm = std::make_unique<const asr::WordLm>(std::move(model), unigrams, c.has_unigrams == 1);
    }
    *decoder = made.release();
  });
}

void asr_ctc_decoder_close(asr_ctc_decoder *decoder) { delete decoder; }

void asr_ctc_decode_config_default(asr_ctc_decode_config *config) {
  if (config == nullptr) return;
  const asr::PrefixOptions options;
  *config = {};
  config->size = sizeof(*config);
  config->beam_width = options.beam_width;
  config->beam_prune_logp = options.beam_prune_logp;
  config->token_min_logp = options.token_min_logp;
  config->hotword_weight = options.hotword_weight;
  config->alpha = options.alpha;
  config->beta = options.beta;
  config->unk_score_offset = options.unk_score_offset;
  config->lm_score_boundary = options.lm_score_boundary ? 1 : 0;
}

asr_status asr_ctc_decode(const asr_ctc_decoder *decoder, const double *log_probs, size_t n_rows,
                          const asr_ctc_decode_config *config, asr_ctc_beams **beams) {
  return guard([&] {
    require(decoder, "asr_ctc_decode", "decoder");
    if (n_rows > 0) require(log_probs, "asr_ctc_decode", "log_probs");
    require(beams, "asr_ctc_decode", "beams");
    check_range<size_t>(n_rows, 0, std::numeric_limits<int32_t>::max() - 1, "asr_ctc_decode: n_rows");
    const asr::PrefixOptions options = read_config(config);
    *beams = new asr_ctc_beams{asr::prefix_search(decoder->labels, decoder->lm.get(), log_probs, n_rows, options)};
  });
}

size_t asr_ctc_beams_count(const asr_ctc_beams *beams) { return beams == nullptr ? 0 : beams->beams.size(); }

asr_status asr_ctc_beams_get(const asr_ctc_beams *beams, size_t index, asr_ctc_beam *beam) {
  return guard([&] {
    require(beams, "asr_ctc_beams_get", "beams");
    require(beam, "asr_ctc_beams_get", "beam");
    if (index >= beams->beams.size()) {
      asr::fail(ASR_INVALID_ARGUMENT, "asr_ctc_beams_get: text %zu of %zu", index, beams->beams.size());
    }
    const asr::PrefixBeam &from = beams->beams[index];
    asr_ctc_beam value{};
    value.text = from.text.c_str();
    value.start_frames = from.start_frames.data();
    value.end_frames = from.end_frames.data();
    value.n_words = from.start_frames.size();
    value.logit_score = from.logit_score;
    value.lm_score = from.lm_score;
    value.lm_state = from.lm_state;
    fill(beam, value, "asr_ctc_beams_get: beam->size");
  });
}

void asr_ctc_beams_free(asr_ctc_beams *beams) { delete beams; }
