// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/graph/archive.h"
#include "core/graph/build/bundle_parts.h"
#include "core/graph/build/guessed_words.h"
#include "core/graph/build/phrases.h"
#include "core/graph/build/tags.h"

namespace asr {
namespace {

HmmSet read_listed_hmms(const Bundle &bundle) {
  if (bundle.has("hmms.bin"))
    check_bundle_file(bundle.file("hmms.bin"), bundle.files.at("hmms.bin"), sum_file(bundle.file("hmms.bin")));
  HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  return set;
}

std::string this_version() { return format("%d.%d.%d", ASR_VERSION_MAJOR, ASR_VERSION_MINOR, ASR_VERSION_PATCH); }

// Each once, rising.
std::vector<std::string> sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

GraphBuilder::Model::Model(const std::string &bundle_path)
    : bundle(read_bundle_index(bundle_path)),
      set(read_listed_hmms(bundle)),
      contexts(set),
      fillers(filler_phones(bundle, set)) {}

GraphBuilder::GraphBuilder(const std::string &bundle_path) : model_(std::make_shared<const Model>(bundle_path)) {}

// The words that grammars may use: those of the lexicons, and what G2P makes of others.
class GraphBuilder::Words {
 public:
  Words(const Model &model, const Means &means, const BuildOptions &options) : means_(means) {
    if (means.g2p != nullptr) guessed_.emplace(means.g2p, model.set, means.n_guesses);
    vocabulary_.pronounced = [this](const std::string &word) {
      return is_class(word) || means_.lexicons.contains(word) || (guessed_ && guessed_->pronounces(word));
    };
    vocabulary_.dictionary = "the builder's lexicons";
    vocabulary_.drop_unknown = options.drop_unknown;
    vocabulary_.remedy =
        "add them with asr_builder_add_lexicon ($names with asr_builder_set_class), check asr_build_config.letter_case, or "
        "set its field unknown to ASR_BUILD_DROP_UNKNOWN";
    vocabulary_.dropped = &unknown_;
  }

  const Vocabulary &vocabulary() const { return vocabulary_; }

  bool is_class(const std::string &word) const { return word[0] == '$' && means_.classes.count(word.substr(1)) != 0; }

  // The pronunciations of these.
  Lexicon lexicon_of(const std::vector<std::string> &words) const {
    Lexicon lexicon = means_.lexicons.restricted(words);
    if (guessed_) add_words(&lexicon, guessed_->words(), "the words of G2P");
    return lexicon;
  }

  std::vector<std::string> unknown() const { return sorted(unknown_); }
  std::vector<std::string> guessed() const {
    std::vector<std::string> words;
    if (!guessed_) return words;
    for (const auto &[word, pronunciations] : guessed_->words()) words.push_back(word);
    return words;
  }

 private:
  const Means &means_;
  std::optional<GuessedWords> guessed_;
  Vocabulary vocabulary_;
  std::vector<std::string> unknown_;
};

GraphBuilder::Means GraphBuilder::means() const {
  const std::lock_guard lock(mutex_);
  return means_;
}

void GraphBuilder::add_lexicon(const std::string &text, const std::string &source) {
  size_t n_left_out = 0;
  Lexicon added = parse_sphinx_lexicon(text, source, model_->set, &n_left_out);
  const std::lock_guard one_at_a_time(lexicon_mutex_);
  LexiconStack lexicons = means().lexicons.with(std::move(added), source);
  const std::lock_guard lock(mutex_);
  means_.lexicons = std::move(lexicons);
}

void GraphBuilder::set_g2p(std::shared_ptr<const G2pModel> model, size_t n_best) {
  const std::lock_guard lock(mutex_);
  means_.g2p = std::move(model);
  means_.n_guesses = n_best;
}

std::shared_ptr<const GraphBuilder::PhraseList> GraphBuilder::compile_phrases(const Means &means, const std::string &phrases,
                                                                              const BuildOptions &options) const {
  Words words(*model_, means, options);
  const Rules rules = parse_phrases(phrases, options.name, options.letter_case);
  const Grammar grammar = class_grammar(rules_grammar(rules, "", words.vocabulary(), options.name), options.name);
  for (const std::string &word : grammar.words) {
    if (words.is_class(word)) {
      fail(ASR_UNSUPPORTED, "%s: the class %s cannot be used in a class; write its phrases out", options.name.c_str(),
           word.c_str());
    }
  }
  const Lexicon lexicon = words.lexicon_of(grammar.words);
  auto list = std::make_shared<PhraseList>();
  list->graph = build_class_graph(model_->set, model_->contexts, lexicon, grammar, graph_options(options));
  list->words = {grammar.words, grammar.labels};
  list->unknown = words.unknown();
  list->guessed = words.guessed();
  list->n_phrases = static_cast<double>(rules.rules.at("").expansion.parts.size());
  return list;
}

// Many small lists make one anew, or each would be looked through at every place.
void GraphBuilder::set_class(const std::string &name, const std::string &phrases, const BuildOptions &options, bool add) {
  const std::lock_guard one_at_a_time(class_mutex_);
  const Means now = means();
  const auto known = now.classes.find(name);
  auto changed = std::make_shared<PhraseClass>();
  if (add && known != now.classes.end()) *changed = *known->second;
  if (!changed->text.empty() && changed->text.back() != '\n') changed->text += '\n';
  changed->text += phrases;
  const bool anew = changed->lists.size() >= kMostClassLists;
  if (anew) changed->lists.clear();
  changed->lists.push_back(compile_phrases(now, anew ? changed->text : phrases, options));
  const std::lock_guard lock(mutex_);
  means_.classes[name] = std::move(changed);
}

GraphOptions GraphBuilder::graph_options(const BuildOptions &options) const {
  GraphOptions of_graph = options.graph;
  of_graph.filler_phones = model_->fillers;
  return of_graph;
}

BuiltGraph GraphBuilder::finish(const GraphData &graph, const WordTable &words, const std::string &maker) const {
  Bundle bundle = model_->bundle;
  bundle.decoding.reject_threshold = kGrammarRejectThreshold;
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
  const Means now = means();
  Words words(*model_, now, options);
  Grammar grammar = make_grammar(words.vocabulary());
  for (const std::string &word : grammar.words) grammar.is_class.push_back(words.is_class(word));
  const Lexicon lexicon = words.lexicon_of(grammar.words);
  const GraphOptions of_graph = graph_options(options);
  if (std::find(grammar.is_class.begin(), grammar.is_class.end(), true) != grammar.is_class.end()) {
    const auto open = std::make_shared<OpenGrammar>();
    open->model = model_;
    open->graph = build_open_graph(model_->set, model_->contexts, lexicon, grammar, of_graph);
    open->words = {grammar.words, grammar.labels};
    open->name = options.name;
    open->maker = maker;
    open->unknown = words.unknown();
    open->guessed = words.guessed();
    return join(open, now);
  }
  GraphSizes sizes{};
  const auto silent = [](double, const std::string &) {};
  const GraphData graph = build_graph(model_->set, model_->contexts, lexicon, grammar, of_graph, silent, &sizes);
  BuiltGraph built = finish(graph, {grammar.words, grammar.labels}, maker);
  built.unknown = words.unknown();
  built.guessed = words.guessed();
  return built;
}

BuiltGraph GraphBuilder::build_again(const BuiltGraph &graph) const {
  if (graph.open == nullptr) return graph;
  if (graph.open->model != model_) {
    fail(ASR_INVALID_ARGUMENT, "asr_build_again: another builder has made the result; give that one");
  }
  return join(graph.open, means());
}

namespace {

// The words of a graph whose classes are filled in: those of the grammar, and those of lists as they are said at a place.
class JoinedWords {
 public:
  // `source` names the grammar in errors.
  JoinedWords(const WordTable &open, const std::string &source) : open_(open), source_(source) { add("<eps>", {}); }

  // Returns the numbers of the grammar's words; 0 for names of classes, which `is_class` tells.
  template <typename IsClass>
  std::vector<uint32_t> add_open(const IsClass &is_class) {
    std::vector<uint32_t> numbers;
    for (uint32_t word = 0; word < open_.words.size(); ++word) {
      numbers.push_back(word == 0 || is_class(open_.words[word]) ? 0 : add(open_.words[word], label(open_, word)));
    }
    return numbers;
  }

  // Returns the numbers of a list's words in the place of a class's name. They have the rule of the name, the last word of a
  // phrase its tags, too.
  std::vector<uint32_t> add_list(const WordTable &list, uint32_t name) {
    const WordLabel of_name = label(open_, name);
    std::vector<uint32_t> numbers;
    for (uint32_t word = 0; word < list.words.size(); ++word) {
      const bool is_last = word >= list.words.size() / 2;  // class_grammar
      WordLabel joined = {of_name.rule, label(list, word).tags};
      if (is_last && !of_name.tags.empty()) joined.tags += (joined.tags.empty() ? "" : "\n") + of_name.tags;
      numbers.push_back(list.words[word] == "<eps>" ? 0 : add(list.words[word], joined));
    }
    return numbers;
  }

  const WordTable &table() const { return table_; }

 private:
  const WordTable &open_;
  const std::string &source_;
  WordTable table_;
  size_t n_bytes_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> number_of_;

  static WordLabel label(const WordTable &of, uint32_t word) { return of.labels.empty() ? WordLabel{} : of.labels[word]; }

  uint32_t add(const std::string &word, const WordLabel &label) {
    const auto [known, is_new] =
        number_of_.try_emplace({word, label.rule, label.tags}, static_cast<uint32_t>(table_.words.size()));
    if (is_new) {
      n_bytes_ += word.size() + label.rule.size() + label.tags.size();
      if (n_bytes_ > kMostSymbolBytes) fail_symbols(source_);
      table_.words.push_back(word);
      table_.labels.push_back(label);
    }
    return known->second;
  }
};

}  // namespace

BuiltGraph GraphBuilder::join(std::shared_ptr<const OpenGrammar> open, const Means &means) const {
  const std::vector<std::string> &names = open->words.words;
  const auto class_named = [&](const std::string &word) {
    const auto found = word[0] == '$' ? means.classes.find(word.substr(1)) : means.classes.end();
    return found == means.classes.end() ? nullptr : found->second.get();
  };
  JoinedWords words(open->words, open->name);
  const std::vector<uint32_t> numbers = words.add_open(class_named);
  std::vector<std::vector<ClassFilling>> fillings(names.size());
  std::vector<std::string> unknown = open->unknown, guessed = open->guessed;
  std::set<const PhraseClass *> classes;
  for (uint32_t name = 1; name < names.size(); ++name) {
    const PhraseClass *const phrases = class_named(names[name]);
    if (phrases == nullptr) continue;
    classes.insert(phrases);
    double n_phrases = 0;
    for (const auto &list : phrases->lists) n_phrases += list->n_phrases;
    for (const auto &list : phrases->lists) {
      const auto cost = static_cast<float>(std::log(n_phrases / list->n_phrases));
      fillings[name].push_back({&list->graph, words.add_list(list->words, name), on_cost_grid(cost)});
      unknown.insert(unknown.end(), list->unknown.begin(), list->unknown.end());
      guessed.insert(guessed.end(), list->guessed.begin(), list->guessed.end());
    }
  }
  const auto n_words = static_cast<uint32_t>(words.table().words.size());
  const GraphData graph = join_classes(open->graph, numbers, fillings, model_->set.n_pdfs, n_words, open->name);
  BuiltGraph built = finish(graph, words.table(), open->maker);
  built.unknown = sorted(std::move(unknown));
  built.guessed = sorted(std::move(guessed));
  built.n_classes = classes.size();
  built.open = std::move(open);
  return built;
}

}  // namespace asr
