// SPDX-License-Identifier: Apache-2.0
// Model is a bundle as Vosk's programs see it: an engine, the words that it knows, and the grammars that recognizers ask for.
// Any thread may call.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <senone.hpp>
#include <senone_build.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace senone::vosk {

// Writes a line to standard error, whatever the level of the log is.
void report(const std::string &message);
// Sets the level of the log, as vosk_set_log_level.
void set_log_level(int level);
// Receives the library's log from the first model on, unless set_log_level has done so.
void begin_log();

// A compiled grammar. Its name leaves the engine with its last user.
class Graph {
 public:
  Graph(std::shared_ptr<Engine> engine, std::string name) : engine_(std::move(engine)), name_(std::move(name)) {}
  ~Graph() { (void)engine_->try_remove_graph(name_); }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  const std::string &name() const { return name_; }

 private:
  const std::shared_ptr<Engine> engine_;
  const std::string name_;
};

// Search is what a recognizer searches.
struct Search {
  std::shared_ptr<const Graph> graph;  // nullptr: the bundle's own
  bool has_unknown = false;            // other speech is called "[unk]"
};

class Model {
 public:
  // Throws Error.
  explicit Model(const std::string &path);

  Engine &engine() { return *engine_; }
  bool has_graph() const { return has_graph_; }
  // The bundle's graph is a grammar or a list of words, which rejects other speech.
  bool is_grammar() const { return is_grammar_; }

  // Returns the search for a grammar, a JSON list of phrases. Throws Error.
  Search search(const std::string &grammar);

  // Returns the number of a word, or -1.
  int find_word(const std::string &word);

 private:
  std::shared_ptr<const Graph> compile(const std::vector<std::string> &phrases);
  GrammarBuilder &builder();
  std::string lexicon() const;
  void read_words();

  const std::string path_;
  const std::shared_ptr<Engine> engine_;
  bool has_graph_ = false, is_grammar_ = false;

  std::mutex builder_mutex_;  // guards the member below while it is made
  std::optional<GrammarBuilder> builder_;

  std::mutex words_mutex_;  // guards the members below
  bool has_words_ = false;
  std::unordered_map<std::string, int> words_;

  std::mutex graphs_mutex_;                                   // guards the members below
  std::map<std::string, std::weak_ptr<const Graph>> graphs_;  // by the text of the grammar
  std::deque<std::shared_ptr<const Graph>> recent_;           // kept for recognizers to come
  uint64_t n_graphs_ = 0;
};

}  // namespace senone::vosk
