// SPDX-License-Identifier: Apache-2.0
// A model, lexicons and classes that grammars are compiled with, one after another or at once. libsenone_build wraps it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "builder/g2p/g2p_model.h"
#include "builder/graph/letter_case.h"
#include "builder/graph/open_graph.h"
#include "builder/graph/rules.h"

namespace asr {

struct BuildOptions {
  std::string name = "grammar";  // in messages
  std::string rule;
  bool drop_unknown = false;
  LetterCase letter_case = LetterCase::kAsIs;
  GraphOptions graph;  // its filler phones are the model's
};

// A grammar that uses classes, compiled but for them.
struct OpenGrammar {
  std::shared_ptr<const void> model;  // whose builder it is of
  OpenGraph graph;
  WordTable words;             // with the names of classes
  std::vector<bool> is_class;  // [words]
  std::string name, maker;
  std::set<std::string> unknown, guessed;
};

struct BuiltGraph {
  std::string archive;
  std::set<std::string> unknown;            // words that no lexicon has
  std::set<std::string> guessed;            // words that G2P has pronounced
  std::shared_ptr<const OpenGrammar> open;  // where the grammar uses classes
  uint64_t n_arcs = 0;
  uint32_t n_states = 0, n_words = 0;
  size_t n_classes = 0;  // whose names the grammar uses
};

// Any thread may call any function at any time.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string &bundle_path);

  // CMU Sphinx form; a word that is known gets these pronunciations besides.
  void add_lexicon(const std::string &text, const std::string &source);

  // The model that pronounces words which no lexicon has, up to n_best ways; nullptr for none.
  void set_g2p(std::shared_ptr<const G2pModel> model, size_t n_best);

  // Sets the phrases of the class that grammars use as $name, or adds to them (parse_phrases); a class may have none. Phrases
  // are compiled with the words and options of their call. Adding some takes time by their number, not by all: lists of like
  // sizes are merged, so that few are kept.
  void set_class(const std::string &name, const std::string &phrases, const BuildOptions &options, bool add);

  // Compiles the grammar that `make_grammar` makes of the words that are known. `maker` is noted as what made the graph.
  BuiltGraph build(const std::function<Grammar(const Vocabulary &)> &make_grammar, const BuildOptions &options,
                   const std::string &maker) const;
  // The grammar of a graph that uses classes, with the classes as they are now. Throws if another builder has made it.
  BuiltGraph build_again(const BuiltGraph &graph) const;

 private:
  struct Model {
    explicit Model(const std::string &bundle_path);

    Bundle bundle;
    HmmSet set;
    ContextTable contexts;
    std::vector<uint32_t> fillers;
  };

  // Phrases of a class, with all that they were compiled with.
  struct PhraseList {
    RuleNode phrases;  // alternatives
    Lexicon lexicon;   // of their words
    GraphOptions options;
    std::set<std::string> unknown, guessed;
    OpenGraph graph;
    WordTable words;
    std::vector<bool> ends_phrase;  // [words]

    size_t size() const { return phrases.parts.size(); }
  };
  // Each list has more than twice the phrases of the next that was compiled with the same options.
  struct PhraseClass {
    std::vector<std::shared_ptr<const PhraseList>> lists;
  };

  // All that a build uses, as it was when that began.
  struct Means {
    LexiconStack lexicons;
    std::shared_ptr<const G2pModel> g2p;
    size_t n_guesses = 1;
    std::map<std::string, std::shared_ptr<const PhraseClass>> classes;
  };
  class Words;

  Means means() const;
  PhraseList read_phrases(const Means &means, RuleNode phrases, const BuildOptions &options) const;  // all but the graph
  void compile_phrases(PhraseList *list, const std::string &name) const;
  GraphOptions graph_options(const BuildOptions &options) const;
  BuiltGraph finish(const GraphData &graph, const WordTable &words, const std::string &maker) const;
  BuiltGraph join(std::shared_ptr<const OpenGrammar> open, const Means &means) const;

  const std::shared_ptr<const Model> model_;
  std::mutex lexicon_mutex_, class_mutex_;  // one lexicon is added, and one class changes at a time
  mutable std::mutex mutex_;
  Means means_;  // what it points at is replaced as a whole
};

}  // namespace asr
