// SPDX-License-Identifier: Apache-2.0
// A model and lexicons that grammars are compiled with, one after another or at once. What libsenone_build is made of.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/graph/build/build.h"
#include "core/graph/build/letter_case.h"

namespace asr {

struct BuildOptions {
  std::string name = "grammar";  // in messages
  std::string rule;
  bool drop_unknown = false;
  LetterCase letter_case = LetterCase::kAsIs;
  GraphOptions graph;  // its filler phones are the model's
};

struct BuiltGraph {
  std::string archive;
  std::vector<std::string> unknown;  // words that no lexicon has
  uint64_t n_arcs = 0;
  uint32_t n_states = 0, n_words = 0;
};

// Any thread may call any function at any time.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string &bundle_path);

  // CMU Sphinx form; a word that is known gets these pronunciations besides.
  void add_lexicon(const std::string &text, const std::string &source);

  // Compiles the grammar that `make_grammar` makes of the words that are known. `maker` is noted as what made the graph.
  BuiltGraph build(const std::function<Grammar(const Vocabulary &)> &make_grammar, const BuildOptions &options,
                   const std::string &maker) const;

 private:
  struct Model {
    explicit Model(const std::string &bundle_path);

    Bundle bundle;
    HmmSet set;
    ContextTable contexts;
    std::vector<uint32_t> fillers;
  };

  std::shared_ptr<const Lexicon> lexicon() const;

  const Model model_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Lexicon> lexicon_ = std::make_shared<Lexicon>();  // replaced as a whole
};

}  // namespace asr
