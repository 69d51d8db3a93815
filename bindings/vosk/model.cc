// SPDX-License-Identifier: Apache-2.0
#include "bindings/vosk/model.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bindings/vosk/result.h"

namespace senone::vosk {

namespace {

constexpr size_t kRecentGraphs = 16;
constexpr size_t kMaxPhrases = 100000, kMaxGrammarBytes = size_t{8} << 20;

std::mutex log_mutex;  // guards the member below, and calls of asr_set_log
bool log_is_set = false;

void receive_log(asr_log_level, const char *message, void *) { report(message); }

void set_receiver(asr_log_level level) {
  asr_set_log(receive_log, level, nullptr);
  log_is_set = true;
}

// Returns the phrases of a grammar; throws Error.
std::vector<std::string> phrases_of(const std::string &grammar) {
  const auto refuse = [](const std::string &why) -> std::vector<std::string> {
    throw Error(ASR_INVALID_ARGUMENT,
                "the grammar " + why + R"(; give a JSON list of phrases, such as ["yes", "no", "[unk]"])");
  };
  if (grammar.size() > kMaxGrammarBytes) return refuse("has more than 8 MiB");
  // A list of texts needs no depth, and a deep value would be destroyed by recursion.
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json &) { return depth <= 1; };
  const nlohmann::json list = nlohmann::json::parse(grammar, shallow, false);
  if (list.is_discarded()) return refuse("is not JSON");
  if (!list.is_array()) return refuse("is not a list");
  if (list.size() > kMaxPhrases) return refuse("has more than 100,000 phrases");
  std::vector<std::string> phrases;
  for (const nlohmann::json &phrase : list) {
    if (!phrase.is_string()) return refuse("has an element that is no text");
    phrases.push_back(phrase.get<std::string>());
  }
  return phrases;
}

// Returns the words of a phrase, without what XML cannot hold and without quotes, which join words in SRGS.
std::vector<std::string> words_of(std::string phrase) {
  for (char &c : phrase) {
    if (c == '"' || static_cast<unsigned char>(c) < 32) c = ' ';
  }
  std::istringstream stream(phrase);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    if (word != kUnknown) words.push_back(word);
  }
  return words;
}

std::string item(const std::string &text, double weight) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return "<item weight=\"" + nlohmann::json(weight).dump() + "\">" + escaped + "</item>";
}

// Returns the grammar of any number of phrases in any order. Vosk's grammars also take their words in any order, at a cost;
// here all words together are as likely as all phrases.
std::string srgs_of(const std::vector<std::string> &phrases) {
  std::set<std::string> all, singles, words;
  std::string items;
  for (const std::string &phrase : phrases) {
    const std::vector<std::string> split = words_of(phrase);
    std::string text;
    for (const std::string &word : split) text += (text.empty() ? "" : " ") + word;
    if (text.empty() || !all.insert(text).second) continue;
    items += item(text, 1);
    if (split.size() == 1) singles.insert(text);
    words.insert(split.begin(), split.end());
  }
  for (const std::string &single : singles) words.erase(single);
  const double weight = words.empty() ? 0 : static_cast<double>(all.size()) / static_cast<double>(words.size());
  for (const std::string &word : words) items += item(word, weight);
  if (items.empty()) return items;
  return "<grammar xmlns=\"http://www.w3.org/2001/06/grammar\" version=\"1.0\" mode=\"voice\" xml:lang=\"en\" "
         "root=\"phrases\"><rule id=\"phrases\" scope=\"public\"><item repeat=\"1-\"><one-of>" +
         items + "</one-of></item></rule></grammar>";
}

// Returns what the builder makes of SRGS. Throws Error, with what may be wrong if all phrases were left out.
Grammar compiled_by(GrammarBuilder &builder, const std::string &text, const BuildConfig &config, const std::string &lexicon) {
  try {
    return builder.srgs(text, config);
  } catch (const Error &error) {
    throw Error(error.status(), std::string(error.what()) + "; phrases with words that are not in " + lexicon +
                                    ", written as there, were left out");
  }
}

}  // namespace

void report(const std::string &message) { fprintf(stderr, "libvosk: %s\n", message.c_str()); }

void set_log_level(int level) {
  const std::lock_guard lock(log_mutex);
  set_receiver(level < 0 ? ASR_LOG_ERROR : level == 0 ? ASR_LOG_INFO : ASR_LOG_DEBUG);
}

void begin_log() {
  const std::lock_guard lock(log_mutex);
  if (!log_is_set) set_receiver(ASR_LOG_INFO);
}

Model::Model(const std::string &path) : path_(path), engine_(std::make_shared<Engine>(path)) {
  has_graph_ = engine_->info().n_graph_states > 0;
  std::ifstream file(std::filesystem::path(path_) / "senone.json");
  const nlohmann::json settings = nlohmann::json::parse(file, nullptr, false);  // the engine has checked it
  if (!settings.is_object()) return;
  const nlohmann::json decoding = settings.value("decoding", nlohmann::json::object());
  const auto threshold = decoding.find("reject_threshold");
  is_grammar_ = threshold != decoding.end() && threshold->is_number() && threshold->get<double>() > 0;
}

// Returns the dictionary for grammars: that of SENONE_LEXICON, or the bundle's own.
std::string Model::lexicon() const {
  const char *const named = secure_getenv("SENONE_LEXICON");
  return named != nullptr && *named != 0 ? named : (std::filesystem::path(path_) / "lexicon.dict").string();
}

GrammarBuilder &Model::builder() {
  const std::lock_guard lock(builder_mutex_);
  if (!builder_) {
    const std::string path = lexicon();
    if (!std::filesystem::exists(path)) {
      throw Error(ASR_NOT_FOUND, path +
                                     ": no such file; grammars need the model's dictionary: put it there, or name it in the "
                                     "environment variable SENONE_LEXICON");
    }
    GrammarBuilder builder(path_);
    builder.add_lexicon(path);
    builder_ = std::move(builder);
  }
  return *builder_;
}

Search Model::search(const std::string &grammar) {
  const std::vector<std::string> phrases = phrases_of(grammar);
  if (phrases.empty()) return {};
  Search search;
  search.has_unknown = std::find(phrases.begin(), phrases.end(), kUnknown) != phrases.end();
  search.graph = compile(phrases);
  return search;
}

std::shared_ptr<const Graph> Model::compile(const std::vector<std::string> &phrases) {
  const std::string text = srgs_of(phrases);
  if (text.empty()) throw Error(ASR_INVALID_ARGUMENT, "the grammar has no words; give phrases beside [unk]");
  {
    const std::lock_guard lock(graphs_mutex_);
    const auto found = graphs_.find(text);
    if (found != graphs_.end()) {
      if (std::shared_ptr<const Graph> graph = found->second.lock()) return graph;
    }
  }
  BuildConfig config;
  config.unknown = ASR_BUILD_DROP_UNKNOWN;
  const Grammar compiled = compiled_by(builder(), text, config, lexicon());
  std::string missing;
  for (const std::string_view word : compiled.unknown()) missing += (missing.empty() ? "" : ", ") + std::string(word);
  if (!missing.empty()) report("warning: phrases with words that the dictionary lacks are left out of the grammar: " + missing);

  const std::lock_guard lock(graphs_mutex_);
  for (auto each = graphs_.begin(); each != graphs_.end();) each = each->second.expired() ? graphs_.erase(each) : ++each;
  const std::string name = "vosk:" + std::to_string(n_graphs_++);
  engine_->add_graph_bytes(name, compiled.bytes());
  auto graph = std::make_shared<const Graph>(engine_, name);
  graphs_[text] = graph;
  recent_.push_back(graph);
  if (recent_.size() > kRecentGraphs) recent_.pop_front();
  return graph;
}

// Numbers the graph's words as it does, and those of the dictionary beyond them.
void Model::read_words() {
  std::string line, word;
  int number = 0, next = 0;
  std::ifstream symbols(std::filesystem::path(path_) / "words.txt");
  while (std::getline(symbols, line)) {
    std::istringstream fields(line.substr(0, line.find('\t')));
    if (!(fields >> word >> number)) continue;
    words_.emplace(word, number);
    next = std::max(next, number + 1);
  }
  std::ifstream dictionary(lexicon());
  while (std::getline(dictionary, line)) {
    if (!(std::istringstream(line) >> word)) continue;
    if (words_.emplace(word, next).second) ++next;
  }
}

int Model::find_word(const std::string &word) {
  const std::lock_guard lock(words_mutex_);
  if (!has_words_) read_words();
  has_words_ = true;
  const auto found = words_.find(word);
  return found == words_.end() ? -1 : found->second;
}

}  // namespace senone::vosk
