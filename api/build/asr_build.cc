// SPDX-License-Identifier: Apache-2.0
// The functions of asr_build.h: handles, argument checks and calls of core/graph/build.
#include "asr_build.h"

#include <vector>

#include "api/fill.h"
#include "api/guard.h"
#include "core/graph/build/grammar_text.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/build/jsgf.h"
#include "core/graph/build/phrases.h"
#include "core/graph/build/srgs.h"

using asr::api::check_range;
using asr::api::fill;
using asr::api::guard;
using asr::api::number;
using asr::api::require;
using asr::api::resized;

struct asr_builder {
  asr::GraphBuilder builder;
};

struct asr_build_result {
  asr::BuiltGraph graph;
  std::vector<const char *> unknown;
};

namespace {

asr::BuildOptions read_config(const asr_build_config *config) {
  const asr_build_config c = resized(config, asr_build_config_default, "asr_build_config");
  check_range<int>(number(c.unknown), ASR_BUILD_REFUSE_UNKNOWN, ASR_BUILD_DROP_UNKNOWN, "asr_build_config.unknown");
  check_range<int>(number(c.letter_case), ASR_BUILD_CASE_AS_IS, ASR_BUILD_CASE_UPPER, "asr_build_config.letter_case");
  check_range(c.silence_prob, 0.0, 1.0, "asr_build_config.silence_prob");
  check_range(c.filler_prob, 0.0, 1.0, "asr_build_config.filler_prob");
  check_range(c.transition_scale, 0.0, 100.0, "asr_build_config.transition_scale");
  check_range(c.self_loop_scale, 0.0, 100.0, "asr_build_config.self_loop_scale");
  asr::BuildOptions options;
  if (c.name != nullptr && *c.name != '\0') options.name = c.name;
  if (c.rule != nullptr) options.rule = c.rule;
  options.drop_unknown = c.unknown == ASR_BUILD_DROP_UNKNOWN;
  options.letter_case = c.letter_case == ASR_BUILD_CASE_UPPER   ? asr::LetterCase::kUpper
                        : c.letter_case == ASR_BUILD_CASE_LOWER ? asr::LetterCase::kLower
                                                                : asr::LetterCase::kAsIs;
  options.graph.silence_prob = c.silence_prob;
  options.graph.filler_prob = c.filler_prob;
  options.graph.scales = {c.transition_scale, c.self_loop_scale};
  return options;
}

// The body of every call that compiles: make_grammar(text, options, vocabulary).
template <typename MakeGrammar>
asr_status compile(const char *function, const asr_builder *builder, const char *text, size_t n_bytes,
                   const asr_build_config *config, asr_build_result **result, const MakeGrammar &make_grammar) {
  return guard([&] {
    require(builder, function, "builder");
    require(text, function, "text");
    require(result, function, "result");
    const asr::BuildOptions options = read_config(config);
    const std::string copy(text, n_bytes);
    asr::check_grammar_text(copy, options.name);
    auto built = std::make_unique<asr_build_result>();
    built->graph = builder->builder.build(
        [&](const asr::Vocabulary &vocabulary) { return make_grammar(copy, options, vocabulary); }, options, function);
    for (const std::string &word : built->graph.unknown) built->unknown.push_back(word.c_str());
    *result = built.release();
  });
}

// make_grammar for notations of rules.
template <asr::Rules (*parse)(const std::string &text, const std::string &name, asr::LetterCase letter_case)>
asr::Grammar grammar_of_rules(const std::string &text, const asr::BuildOptions &options, const asr::Vocabulary &vocabulary) {
  return rules_grammar(parse(text, options.name, options.letter_case), options.rule, vocabulary, options.name);
}

}  // namespace

const char *asr_build_last_error(void) { return asr::api::last_error().text; }

asr_status asr_builder_open(const char *bundle_path, asr_builder **builder) {
  return guard([&] {
    require(bundle_path, "asr_builder_open", "bundle_path");
    require(builder, "asr_builder_open", "builder");
    *builder = new asr_builder{asr::GraphBuilder(bundle_path)};
  });
}

asr_status asr_builder_add_lexicon(asr_builder *builder, const char *path) {
  return guard([&] {
    require(builder, "asr_builder_add_lexicon", "builder");
    require(path, "asr_builder_add_lexicon", "path");
    builder->builder.add_lexicon(asr::read_file(path), path);
  });
}

asr_status asr_builder_add_lexicon_text(asr_builder *builder, const char *text, size_t n_bytes, const char *name) {
  return guard([&] {
    require(builder, "asr_builder_add_lexicon_text", "builder");
    require(text, "asr_builder_add_lexicon_text", "text");
    builder->builder.add_lexicon(std::string(text, n_bytes), name != nullptr && *name != '\0' ? name : "lexicon");
  });
}

void asr_builder_close(asr_builder *builder) { delete builder; }

void asr_build_config_default(asr_build_config *config) {
  if (config == nullptr) return;
  const asr::GraphOptions options;
  *config = {};
  config->size = sizeof(*config);
  config->silence_prob = options.silence_prob;
  config->filler_prob = options.filler_prob;
  config->transition_scale = options.scales.transition;
  config->self_loop_scale = options.scales.self_loop;
}

asr_status asr_build_jsgf(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                          asr_build_result **result) {
  return compile("asr_build_jsgf", builder, text, n_bytes, config, result, grammar_of_rules<asr::parse_jsgf>);
}

asr_status asr_build_srgs(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                          asr_build_result **result) {
  return compile("asr_build_srgs", builder, text, n_bytes, config, result, grammar_of_rules<asr::parse_srgs>);
}

asr_status asr_build_phrases(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                             asr_build_result **result) {
  return compile("asr_build_phrases", builder, text, n_bytes, config, result, grammar_of_rules<asr::parse_phrases>);
}

asr_status asr_build_words(const asr_builder *builder, const char *text, size_t n_bytes, const asr_build_config *config,
                           asr_build_result **result) {
  return compile("asr_build_words", builder, text, n_bytes, config, result,
                 [](const std::string &copy, const asr::BuildOptions &options, const asr::Vocabulary &vocabulary) {
                   std::vector<std::string> words = asr::parse_word_list(copy, options.name);
                   fold_case(&words, options.letter_case, options.name);
                   return word_list_grammar(words, false, vocabulary, options.name);
                 });
}

asr_status asr_build_get_info(const asr_build_result *result, asr_build_info *info) {
  return guard([&] {
    require(result, "asr_build_get_info", "result");
    require(info, "asr_build_get_info", "info");
    const asr::BuiltGraph &graph = result->graph;
    asr_build_info value{};
    value.bytes = graph.archive.data();
    value.n_bytes = graph.archive.size();
    value.unknown = result->unknown.data();
    value.n_unknown = result->unknown.size();
    value.n_arcs = graph.n_arcs;
    value.n_states = graph.n_states;
    value.n_words = graph.n_words;
    fill(info, value, "asr_build_get_info: info->size");
  });
}

void asr_build_free(asr_build_result *result) { delete result; }
