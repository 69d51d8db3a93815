// SPDX-License-Identifier: Apache-2.0
// The functions of asr_build.h: handles, argument checks and calls of core/graph/build.
#include "asr_build.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "api/fill.h"
#include "api/guard.h"
#include "builder/g2p/dictionary.h"
#include "builder/graph/grammar_text.h"
#include "builder/graph/graph_builder.h"
#include "builder/graph/jsgf.h"
#include "builder/graph/phrases.h"
#include "builder/graph/srgs.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/error.h"
#include "core/base/limits.h"

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
  explicit asr_build_result(asr::BuiltGraph built) : graph(std::move(built)) {
    for (const std::string &word : graph.unknown) unknown.push_back(word.c_str());
    for (const std::string &word : graph.guessed) guessed.push_back(word.c_str());
  }

  const asr::BuiltGraph graph;
  std::vector<const char *> unknown, guessed;  // words of the graph
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
  if (c.rule != nullptr) options.rule = asr::to_nfc(c.rule);
  options.drop_unknown = c.unknown == ASR_BUILD_DROP_UNKNOWN;
  options.letter_case = c.letter_case == ASR_BUILD_CASE_UPPER   ? asr::LetterCase::kUpper
                        : c.letter_case == ASR_BUILD_CASE_LOWER ? asr::LetterCase::kLower
                                                                : asr::LetterCase::kAsIs;
  options.graph.silence_prob = c.silence_prob;
  options.graph.filler_prob = c.filler_prob;
  options.graph.scales = {c.transition_scale, c.self_loop_scale};
  return options;
}

// Text of the caller's, in Unicode's normal form C and without a byte order mark. A length that was negative is refused instead
// of read.
std::string copied(const char *function, const char *text, size_t n_bytes) {
  require(text, function, "text");
  if (n_bytes > asr::kMaxTextBytes) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: n_bytes is %zu; the most is %zu", function, n_bytes, asr::kMaxTextBytes);
  }
  const std::string_view given(text, n_bytes);
  return asr::to_nfc(std::string(given.substr(asr::begin_of_text(given))));
}

// The body of every call that compiles: make_grammar(text, options, vocabulary).
template <typename MakeGrammar>
asr_status compile(const char *function, const asr_builder *builder, const char *text, size_t n_bytes,
                   const asr_build_config *config, asr_build_result **result, const MakeGrammar &make_grammar) {
  return guard([&] {
    require(builder, function, "builder");
    require(result, function, "result");
    const std::string copy = copied(function, text, n_bytes);
    const asr::BuildOptions options = read_config(config);
    asr::check_grammar_text(copy, options.name);
    *result = new asr_build_result(builder->builder.build(
        [&](const asr::Vocabulary &vocabulary) { return make_grammar(copy, options, vocabulary); }, options, function));
  });
}

// A class is a word of every notation of grammars.
void check_class_name(const char *function, const std::string &name) {
  if (name.size() > asr::kMaxClassNameBytes) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: name has %zu bytes; the most is %zu", function, name.size(), asr::kMaxClassNameBytes);
  }
  const auto is_mark = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || strchr("$;=|()[]*+<>{}\"/\x7f", c) != nullptr;
  };
  bool is_good = !name.empty() && std::none_of(name.begin(), name.end(), is_mark);
  for (size_t at = 0; is_good && at < name.size();) is_good = asr::next_letter(name, &at).has_value();
  if (!is_good) {
    asr::fail(
        ASR_INVALID_ARGUMENT,
        "%s: name: \"%s\" cannot name a class; give UTF-8 without blanks, control characters and any of $;=|()[]*+<>{}\"/",
        function, name.c_str());
  }
}

// The body of the calls that change a class.
asr_status change_class(const char *function, asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                        const asr_build_config *config, bool add) {
  return guard([&] {
    require(builder, function, "builder");
    require(name, function, "name");
    const std::string phrases = copied(function, text, n_bytes);
    check_class_name(function, name);
    asr::BuildOptions options = read_config(config);
    if (config == nullptr || config->name == nullptr || *config->name == '\0') options.name = name;
    asr::check_grammar_text(phrases, options.name);
    builder->builder.set_class(asr::to_nfc(name), phrases, options, add);
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
    builder->builder.add_lexicon(asr::read_text(path, {"a dictionary"}), path);
  });
}

asr_status asr_builder_add_lexicon_text(asr_builder *builder, const char *text, size_t n_bytes, const char *name) {
  return guard([&] {
    require(builder, "asr_builder_add_lexicon_text", "builder");
    builder->builder.add_lexicon(copied("asr_builder_add_lexicon_text", text, n_bytes),
                                 name != nullptr && *name != '\0' ? name : "lexicon");
  });
}

asr_status asr_builder_set_g2p(asr_builder *builder, const char *path, uint32_t n_best) {
  return guard([&] {
    require(builder, "asr_builder_set_g2p", "builder");
    if (path == nullptr) return builder->builder.set_g2p(nullptr, 1);
    check_range<size_t>(n_best, 1, asr::kMaxPronunciations, "asr_builder_set_g2p: n_best");
    builder->builder.set_g2p(std::make_shared<asr::G2pModel>(asr::read_g2p_model(path)), n_best);
  });
}

asr_status asr_builder_set_class(asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                                 const asr_build_config *config) {
  return change_class("asr_builder_set_class", builder, name, text, n_bytes, config, false);
}

asr_status asr_builder_add_to_class(asr_builder *builder, const char *name, const char *text, size_t n_bytes,
                                    const asr_build_config *config) {
  return change_class("asr_builder_add_to_class", builder, name, text, n_bytes, config, true);
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

asr_status asr_build_again(const asr_builder *builder, const asr_build_result *result, asr_build_result **again) {
  return guard([&] {
    require(builder, "asr_build_again", "builder");
    require(result, "asr_build_again", "result");
    require(again, "asr_build_again", "again");
    *again = new asr_build_result(builder->builder.build_again(result->graph));
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
    value.guessed = result->guessed.data();
    value.n_guessed = result->guessed.size();
    value.n_classes = graph.n_classes;
    fill(info, value, "asr_build_get_info: info->size");
  });
}

void asr_build_free(asr_build_result *result) { delete result; }
