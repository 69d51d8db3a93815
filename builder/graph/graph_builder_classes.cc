// SPDX-License-Identifier: Apache-2.0
// Implements the classes of a GraphBuilder: their lists, and joining them to grammars.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "builder/graph/graph_builder.h"
#include "builder/graph/phrases.h"
#include "builder/graph/tags.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {

// Compiles a list. Words missing in its lexicon have been dropped before.
void GraphBuilder::compile_phrases(PhraseList *list, const std::string &name) const {
  Vocabulary vocabulary;
  vocabulary.pronounced = [list](const std::string &word) { return list->lexicon.contains(word); };
  vocabulary.drop_unknown = true;
  ClassGrammar of_class = class_grammar(rules_grammar(phrase_rules(list->phrases), "", vocabulary, name), name);
  add_outputs(&of_class.grammar, list->lexicon, &of_class.ends_phrase);
  list->graph = build_class_graph(model_->set, model_->contexts, list->lexicon, of_class, list->options);
  list->words = {std::move(of_class.grammar.words), std::move(of_class.grammar.labels)};
  list->ends_phrase = std::move(of_class.ends_phrase);
}

void GraphBuilder::set_class(const std::string &name, const std::string &phrases, const BuildOptions &options, bool add) {
  const std::lock_guard one_at_a_time(class_mutex_);
  const Inputs now = inputs();
  const auto known = now.classes.find(name);
  auto changed = std::make_shared<PhraseClass>();
  if (add && known != now.classes.end()) *changed = *known->second;
  RuleNode parsed = phrase_alternatives(phrases, options.name, options.letter_case);
  if (!parsed.parts.empty()) {
    auto list = std::make_shared<PhraseList>(read_phrases(now, std::move(parsed), options));
    for (auto last = changed->lists.end(); last != changed->lists.begin();) {
      const PhraseList &before = **--last;
      if (!(before.options == list->options)) continue;
      if (before.size() > 2 * list->size()) break;
      list->phrases.parts.insert(list->phrases.parts.begin(), before.phrases.parts.begin(), before.phrases.parts.end());
      list->phrases.weights.assign(list->phrases.parts.size(), 1);
      list->lexicon = merge(before.lexicon, list->lexicon, options.name);
      list->unknown.insert(before.unknown.begin(), before.unknown.end());
      list->guessed.insert(before.guessed.begin(), before.guessed.end());
      last = changed->lists.erase(last);
    }
    compile_phrases(list.get(), options.name);
    changed->lists.push_back(std::move(list));
  }
  const std::lock_guard lock(mutex_);
  inputs_.classes[name] = std::move(changed);
}

BuiltGraph GraphBuilder::build_again(const BuiltGraph &graph) const {
  if (graph.open == nullptr) return graph;
  if (graph.open->model != model_) {
    fail(ASR_INVALID_ARGUMENT, "asr_build_again: another builder has made the result; give that one");
  }
  return join(graph.open, inputs());
}

namespace {

// The words of a graph with filled classes: the grammar's words, and the words of lists at each place of use.
class JoinedWords {
 public:
  explicit JoinedWords(const OpenGrammar &open) : open_(open) { add("<eps>", {}); }

  // Returns the numbers of the grammar's words; 0 for names of classes.
  std::vector<uint32_t> add_open() {
    std::vector<uint32_t> numbers(open_.words.words.size());
    for (uint32_t word = 1; word < numbers.size(); ++word) {
      if (!open_.is_class[word]) numbers[word] = add(open_.words.words[word], label(open_.words, word));
    }
    return numbers;
  }

  // Returns the numbers of a list's words for one use of a class's name. They get the rule of the name; the last word of a
  // phrase also gets its tags.
  std::vector<uint32_t> add_list(const WordTable &list, const std::vector<bool> &ends_phrase, uint32_t name) {
    const WordLabel of_name = label(open_.words, name);
    std::vector<uint32_t> numbers(list.words.size());
    for (uint32_t word = 1; word < numbers.size(); ++word) {
      WordLabel joined = {of_name.rule, label(list, word).tags};
      if (ends_phrase[word] && !of_name.tags.empty()) joined.tags += (joined.tags.empty() ? "" : "\n") + of_name.tags;
      if (static_cast<size_t>(std::count(joined.tags.begin(), joined.tags.end(), '\n')) >= kMaxWordTags) {
        fail(ASR_UNSUPPORTED, "%s: with the tags of %s the word '%.80s' has more than %zu; use fewer", open_.name.c_str(),
             open_.words.words[name].c_str(), list.words[word].c_str(), kMaxWordTags);
      }
      numbers[word] = add(list.words[word], joined);
    }
    return numbers;
  }

  const WordTable &table() const { return table_; }

 private:
  const OpenGrammar &open_;
  WordTable table_;
  size_t n_bytes_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> number_of_;

  static WordLabel label(const WordTable &of, uint32_t word) { return of.labels.empty() ? WordLabel{} : of.labels[word]; }

  uint32_t add(const std::string &word, const WordLabel &label) {
    const auto [known, is_new] =
        number_of_.try_emplace({word, label.rule, label.tags}, static_cast<uint32_t>(table_.words.size()));
    if (is_new) {
      n_bytes_ += sizeof(WordLabel) + word.size() + label.rule.size() + label.tags.size();
      if (n_bytes_ > kMaxSymbolBytes) fail_symbols(open_.name);
      table_.words.push_back(word);
      table_.labels.push_back(label);
    }
    return known->second;
  }
};

}  // namespace

BuiltGraph GraphBuilder::join(std::shared_ptr<const OpenGrammar> open, const Inputs &inputs) const {
  JoinedWords words(*open);
  const std::vector<uint32_t> numbers = words.add_open();
  std::vector<std::vector<ClassFilling>> fillings(numbers.size());
  std::set<std::string> unknown = open->unknown, guessed = open->guessed, classes;
  for (uint32_t name = 1; name < numbers.size(); ++name) {
    if (!open->is_class[name]) continue;
    classes.insert(open->words.words[name]);
    const PhraseClass &phrases = *inputs.classes.at(open->words.words[name].substr(1));
    double n_phrases = 0;
    for (const auto &list : phrases.lists) n_phrases += static_cast<double>(list->size());
    for (const auto &list : phrases.lists) {
      const auto cost = static_cast<float>(std::log(n_phrases / static_cast<double>(list->size())));
      fillings[name].push_back({&list->graph, words.add_list(list->words, list->ends_phrase, name), on_cost_grid(cost)});
      unknown.insert(list->unknown.begin(), list->unknown.end());
      guessed.insert(list->guessed.begin(), list->guessed.end());
    }
  }
  const auto n_words = static_cast<uint32_t>(words.table().words.size());
  const GraphData graph = join_classes(open->graph, numbers, fillings, model_->set.n_pdfs, n_words, open->name);
  Grammar results;
  results.garbage = open->garbage;
  BuiltGraph built = finish(graph, words.table(), results, open->maker);
  built.unknown = std::move(unknown);
  built.guessed = std::move(guessed);
  built.n_classes = classes.size();
  built.open = std::move(open);
  return built;
}

}  // namespace asr
