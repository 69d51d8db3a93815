// SPDX-License-Identifier: Apache-2.0
// GraphBuilder holds a model, lexicons and classes, and compiles grammars with them, one after another or concurrently.
// libsenone_build wraps it.
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
  std::string name = "grammar";  // name in messages
  std::string rule;
  bool drop_unknown = false;
  LetterCase letter_case = LetterCase::kAsIs;
  GraphOptions graph;  // filler_phones come from the model
};

// A grammar that uses classes, compiled without their phrases.
struct OpenGrammar {
  std::shared_ptr<const void> model;  // model of the builder that made it
  OpenGraph graph;
  WordTable words;             // including the names of classes
  std::vector<bool> is_class;  // [words]
  std::string name, maker;
  std::set<std::string> unknown, guessed;
  uint32_t garbage = 0;  // as the grammar's
};

struct BuiltGraph {
  std::string archive;
  std::set<std::string> unknown;            // words in no lexicon
  std::set<std::string> guessed;            // words pronounced by G2P
  std::shared_ptr<const OpenGrammar> open;  // set if the grammar uses classes
  uint64_t n_arcs = 0;
  uint32_t n_states = 0, n_words = 0;
  size_t n_classes = 0;  // number of classes that the grammar uses
};

// Any thread may call any function at any time.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string &bundle_path);

  // Adds a dictionary in CMU Sphinx form; known words get its pronunciations in addition.
  void add_lexicon(const std::string &text, const std::string &source);

  // Sets the model that pronounces words in no lexicon, in up to n_best ways; nullptr for none.
  void set_g2p(std::shared_ptr<const G2pModel> model, size_t n_best);

  // Sets or extends the phrases of the class that grammars use as $name (parse_phrases); a class may have none. Phrases are
  // compiled with the words and options of their call. Adding phrases takes time by their number, not by the class: lists of
  // similar sizes are merged, so that few remain.
  void set_class(const std::string &name, const std::string &phrases, const BuildOptions &options, bool add);

  // Compiles the grammar that `make_grammar` returns for the known words. `maker` is recorded as the graph's maker.
  BuiltGraph build(const std::function<Grammar(const Vocabulary &)> &make_grammar, const BuildOptions &options,
                   const std::string &maker) const;
  // Rebuilds a graph that uses classes, with the current classes. Throws if another builder made it.
  BuiltGraph build_again(const BuiltGraph &graph) const;

 private:
  struct Model {
    explicit Model(const std::string &bundle_path);

    Bundle bundle;
    HmmSet set;
    ContextTable contexts;
    std::vector<uint32_t> fillers;
  };

  // Phrases of a class, with everything they were compiled with.
  struct PhraseList {
    RuleNode phrases;  // alternatives
    Lexicon lexicon;   // pronunciations of their words
    GraphOptions options;
    std::set<std::string> unknown, guessed;
    OpenGraph graph;
    WordTable words;
    std::vector<bool> ends_phrase;  // [words]

    size_t size() const { return phrases.parts.size(); }
  };
  // Among lists compiled with the same options, each has more than twice the phrases of the next.
  struct PhraseClass {
    std::vector<std::shared_ptr<const PhraseList>> lists;
  };

  // A snapshot of everything that a build uses, taken at its beginning.
  struct Inputs {
    LexiconStack lexicons;
    std::shared_ptr<const G2pModel> g2p;
    size_t n_guesses = 1;
    std::map<std::string, std::shared_ptr<const PhraseClass>> classes;
  };
  class Words;

  Inputs inputs() const;
  PhraseList read_phrases(const Inputs &inputs, RuleNode phrases, const BuildOptions &options) const;  // without graph
  void compile_phrases(PhraseList *list, const std::string &name) const;
  GraphOptions graph_options(const BuildOptions &options) const;
  BuiltGraph finish(const GraphData &graph, const WordTable &words, const Grammar &grammar, const std::string &maker) const;
  BuiltGraph join(std::shared_ptr<const OpenGrammar> open, const Inputs &inputs) const;

  const std::shared_ptr<const Model> model_;
  std::mutex lexicon_mutex_, class_mutex_;  // serialise additions of lexicons, and changes of classes
  mutable std::mutex mutex_;
  Inputs inputs_;  // its targets are replaced as a whole
};

}  // namespace asr
