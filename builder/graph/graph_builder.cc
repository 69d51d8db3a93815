// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/graph_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "builder/graph/bundle_parts.h"
#include "builder/graph/guessed_words.h"
#include "core/base/error.h"
#include "core/graph/archive.h"

namespace asr {
namespace {

HmmSet read_listed_hmms(const Bundle &bundle) {
  if (bundle.has("hmms.bin")) check_bundle_file(bundle, "hmms.bin");
  HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  return set;
}

std::string this_version() { return format("%d.%d.%d", ASR_VERSION_MAJOR, ASR_VERSION_MINOR, ASR_VERSION_PATCH); }

// Returns the words of phrases, each with its first position.
std::map<std::string, TextPlace> words_of(const RuleNode &phrases) {
  std::map<std::string, TextPlace> places;
  for (const RuleNode &phrase : phrases.parts) {
    for (const RuleNode &part : phrase.parts) {
      if (part.kind == RuleNode::kWord) places.emplace(part.name, part.place);
    }
  }
  return places;
}

}  // namespace

GraphBuilder::Model::Model(const std::string &bundle_path)
    : bundle(read_bundle_index(bundle_path)),
      set(read_listed_hmms(bundle)),
      contexts(set),
      fillers(filler_phones(bundle, set)) {}

GraphBuilder::GraphBuilder(const std::string &bundle_path) : model_(std::make_shared<const Model>(bundle_path)) {}

// The words available to grammars: the lexicons' words, and words that G2P pronounces.
class GraphBuilder::Words {
 public:
  Words(const Model &model, const Inputs &inputs, const BuildOptions &options) : inputs_(inputs) {
    if (inputs.g2p != nullptr) guessed_.emplace(inputs.g2p, model.set, inputs.n_guesses);
    vocabulary_.pronounced = [this](const std::string &word) {
      return is_class(word) || inputs_.lexicons.contains(word) || (guessed_ && guessed_->pronounces(word));
    };
    vocabulary_.dictionary = "the builder's lexicons";
    vocabulary_.drop_unknown = options.drop_unknown;
    vocabulary_.remedy =
        "add them with asr_builder_add_lexicon ($names with asr_builder_set_class), check asr_build_config.letter_case, or "
        "set its field unknown to ASR_BUILD_DROP_UNKNOWN";
    vocabulary_.dropped = &unknown_;
    vocabulary_.why_left_out = [this](const std::string &word) {
      const LeftOut *const left_out = inputs_.lexicons.left_out(word);
      return left_out == nullptr ? "" : left_out->why();
    };
  }

  const Vocabulary &vocabulary() const { return vocabulary_; }

  bool is_class(const std::string &word) const { return word[0] == '$' && inputs_.classes.count(word.substr(1)) != 0; }

  // Returns the pronunciations of these words.
  Lexicon lexicon_of(const std::vector<std::string> &words) const {
    Lexicon lexicon = inputs_.lexicons.restricted(words);
    if (guessed_) add_words(&lexicon, guessed_->words(), "the words of G2P");
    return lexicon;
  }

  std::set<std::string> unknown() const { return {unknown_.begin(), unknown_.end()}; }
  std::set<std::string> guessed() const {
    std::set<std::string> words;
    if (!guessed_) return words;
    for (const auto &[word, pronunciations] : guessed_->words()) words.insert(word);
    return words;
  }

 private:
  const Inputs &inputs_;
  std::optional<GuessedWords> guessed_;
  Vocabulary vocabulary_;
  std::vector<std::string> unknown_;
};

GraphBuilder::Inputs GraphBuilder::inputs() const {
  const std::lock_guard lock(mutex_);
  return inputs_;
}

void GraphBuilder::add_lexicon(const std::string &text, const std::string &source) {
  size_t n_left_out = 0;
  Lexicon added = parse_sphinx_lexicon(text, source, model_->set, &n_left_out);
  const std::lock_guard one_at_a_time(lexicon_mutex_);
  LexiconStack lexicons = inputs().lexicons.with(std::move(added), source);
  const std::lock_guard lock(mutex_);
  inputs_.lexicons = std::move(lexicons);
}

void GraphBuilder::set_g2p(std::shared_ptr<const G2pModel> model, size_t n_best) {
  const std::lock_guard lock(mutex_);
  inputs_.g2p = std::move(model);
  inputs_.n_guesses = n_best;
}

GraphBuilder::PhraseList GraphBuilder::read_phrases(const Inputs &inputs, RuleNode phrases, const BuildOptions &options) const {
  Words words(*model_, inputs, options);
  std::vector<std::string> used;
  std::vector<TextPlace> places;
  for (const auto &[word, place] : words_of(phrases)) {
    if (words.is_class(word)) {
      fail(ASR_UNSUPPORTED, "%s: the class %s cannot be used in a class; write its phrases out", options.name.c_str(),
           word.c_str());
    }
    used.push_back(word);
    places.push_back(place);
  }
  find_unknown(used, words.vocabulary(), options.name, places);
  PhraseList list;
  list.lexicon = words.lexicon_of(used);
  list.options = graph_options(options);
  list.unknown = words.unknown();
  list.guessed = words.guessed();
  list.phrases = std::move(phrases);
  return list;
}

GraphOptions GraphBuilder::graph_options(const BuildOptions &options) const {
  GraphOptions of_graph = options.graph;
  of_graph.filler_phones = model_->fillers;
  of_graph.tokens = token_frames(model_->bundle);
  return of_graph;
}

BuiltGraph GraphBuilder::finish(const GraphData &graph, const WordTable &words, const Grammar &grammar,
                                const std::string &maker) const {
  Bundle bundle = model_->bundle;
  note_results(grammar, model_->set, &bundle.decoding);
  note_graph_step(&bundle, {this_version(), {"graph", maker}});
  BuiltGraph built;
  built.archive = graph_archive(bundle, graph, words, phone_symbols(model_->set));
  built.n_arcs = graph.arcs.size();
  built.n_states = graph.n_states();
  built.n_words = static_cast<uint32_t>(words.words.size() - 1);
  return built;
}

BuiltGraph GraphBuilder::build(const std::function<Grammar(const Vocabulary &)> &make_grammar, const BuildOptions &options,
                               const std::string &maker) const {
  const Inputs now = inputs();
  Words words(*model_, now, options);
  Grammar grammar = make_grammar(words.vocabulary());
  for (const std::string &word : grammar.words) grammar.is_class.push_back(words.is_class(word));
  const Lexicon lexicon = words.lexicon_of(grammar.words);
  add_outputs(&grammar, lexicon);
  const GraphOptions of_graph = graph_options(options);
  if (std::find(grammar.is_class.begin(), grammar.is_class.end(), true) != grammar.is_class.end()) {
    if (model_->bundle.scores) {
      fail(ASR_UNSUPPORTED, "%s: classes ($names) need a model of HMMs; write their phrases out for this one, of tokens",
           options.name.c_str());
    }
    const auto open = std::make_shared<OpenGrammar>();
    open->model = model_;
    open->graph = build_open_graph(model_->set, model_->contexts, lexicon, grammar, of_graph);
    open->words = {grammar.words, grammar.labels};
    open->is_class = grammar.is_class;
    open->garbage = grammar.garbage;
    open->name = options.name;
    open->maker = maker;
    open->unknown = words.unknown();
    open->guessed = words.guessed();
    return join(open, now);
  }
  GraphSizes sizes{};
  const auto silent = [](double, const std::string &) {};
  const GraphData graph = build_graph(model_->set, model_->contexts, lexicon, grammar, of_graph, silent, &sizes);
  BuiltGraph built = finish(graph, {grammar.words, grammar.labels}, grammar, maker);
  built.unknown = words.unknown();
  built.guessed = words.guessed();
  return built;
}

}  // namespace asr
