// SPDX-License-Identifier: Apache-2.0
// Implements `senone graph`: builds the search graph from a model's HMMs, a dictionary and a grammar.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "builder/graph/build.h"
#include "builder/graph/bundle_parts.h"
#include "builder/graph/guessed_words.h"
#include "builder/graph/jsgf.h"
#include "builder/graph/keywords.h"
#include "builder/graph/phone_loop.h"
#include "builder/graph/prune.h"
#include "builder/graph/spelled_words.h"
#include "builder/graph/token_expansion.h"
#include "builder/graph/trie_lm.h"
#include "builder/import/graph_check.h"
#include "builder/import/openfst_file.h"
#include "builder/import/silence_phones.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/graph/archive.h"
#include "core/model/bundle.h"
#include "tools/bundle_files.h"
#include "tools/installed_models.h"
#include "tools/progress.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

namespace fs = std::filesystem;

struct GraphArguments {
  std::string delimiter;  // "optional" or "required"; "": the latter where words are spelled
  std::string model, silence, lexicon, g2p, lm, jsgf, rule, words, keywords, hclg, out, archive, letter_case = "asis";
  double prune = 0;
  bool single = false, drop_unknown = false, background = false;
  uint32_t g2p_variants = 1;
  GraphOptions options;
};

// Refuses an archive in the place of a file that the graph is made of.
void check_archive(const GraphArguments &arguments) {
  const fs::path archive = arguments.archive;
  std::vector<fs::path> sources = {arguments.lexicon, arguments.g2p,      arguments.lm,  arguments.jsgf,
                                   arguments.words,   arguments.keywords, arguments.hclg};
  std::error_code unknown;
  for (const fs::directory_entry &entry : fs::directory_iterator(arguments.model, unknown)) {
    if (entry.path().extension() != ".sgraph") sources.push_back(entry.path());
  }
  for (const fs::path &source : sources) {
    if (!source.empty() && fs::equivalent(archive, source, unknown))
      throw UsageError("graph: --archive " + arguments.archive + " would replace a file that the graph is made of");
  }
}

void check(const GraphArguments &arguments) {
  if (!arguments.archive.empty()) check_archive(arguments);
  if (!arguments.out.empty() && !arguments.archive.empty()) throw UsageError("graph: give one of --out and --archive");
  if (!arguments.hclg.empty()) {
    const bool others = !arguments.lm.empty() || !arguments.jsgf.empty() || !arguments.keywords.empty() ||
                        !arguments.lexicon.empty() || !arguments.g2p.empty() || arguments.background;
    if (!arguments.silence.empty())
      throw UsageError("graph: --silence is for graphs that are built; the one of --hclg has its own pauses");
    if (others || arguments.words.empty())
      throw UsageError("graph: give --hclg together with --words and neither grammar nor lexicon");
    return;
  }
  const int n_grammars =
      !arguments.lm.empty() + !arguments.jsgf.empty() + !arguments.words.empty() + !arguments.keywords.empty();
  if (arguments.background) {
    if (n_grammars != 0 || !arguments.archive.empty())
      throw UsageError("graph: --background makes no graph; give it without --lm, --jsgf, --words, --keywords and --archive");
    return;
  }
  if (n_grammars != 1) throw UsageError("graph: give one of --lm, --jsgf, --words, --keywords and --background");
  if (arguments.prune > 0 && arguments.lm.empty()) throw UsageError("graph: --prune is for language models; give it with --lm");
  if (arguments.single && arguments.words.empty()) throw UsageError("graph: --single is for word lists; give it with --words");
  if (!arguments.rule.empty() && arguments.jsgf.empty()) throw UsageError("graph: --rule is for grammars; give it with --jsgf");
}

Grammar read_grammar(const GraphArguments &arguments, const Vocabulary &vocabulary, const BuildProgress &progress) {
  const LetterCase letter_case = letter_case_named(arguments.letter_case);
  if (!arguments.jsgf.empty())
    return rules_grammar(read_jsgf(arguments.jsgf, letter_case), to_nfc(arguments.rule), vocabulary, arguments.jsgf);
  if (!arguments.words.empty()) {
    std::vector<std::string> words = read_word_list(arguments.words);
    fold_case(&words, letter_case, arguments.words);
    return word_list_grammar(words, arguments.single, vocabulary, arguments.words);
  }
  if (!arguments.keywords.empty()) {
    const std::string text = read_text(arguments.keywords, {"a list of keywords"});
    return keyword_grammar(parse_keywords(text, arguments.keywords, letter_case), vocabulary, arguments.keywords);
  }
  progress(-1, "reading the language model");
  NgramModel model = read_language_model(arguments.lm);
  if (!predicts_end(model)) {
    fprintf(stderr,
            "senone: warning: %s: no n-gram makes </s> likely, so sentences never end; a model of reversed sentences "
            "(right-to-left) is like that: give one that was made of sentences in their order\n",
            arguments.lm.c_str());
  }
  fold_case(&model.words, letter_case, arguments.lm);
  if (arguments.prune > 0) {
    progress(-1, "pruning the language model");
    model = prune(model, arguments.prune);
  }
  return ngram_grammar(model, vocabulary, arguments.lm);
}

// Writes what results of grammars are compared with, whose words are phones, and adds the names of the files.
void write_background(const Bundle &bundle, const HmmSet &set, const TransitionScales &scales, const OutputDirectory &directory,
                      std::vector<std::string> *names) {
  const TokenFrames tokens = token_frames(bundle);
  const bool has_tokens = tokens.topology != TokenTopology::kNone;
  write_graph(has_tokens ? make_token_loop(tokens, set.n_pdfs) : make_phone_loop(set, scales), directory.file("background.bin"));
  write_symbols(phone_symbols(set), directory.file("phones.txt"));
  names->insert(names->end(), {"background.bin", "phones.txt"});
}

// Completes the bundle's index and puts the directory in its place.
void commit(Bundle bundle, OutputDirectory *directory, std::vector<std::string> names) {
  keep_files(bundle, *directory, &names);
  note_graph_step(&bundle, this_step());
  write_bundle_index(bundle, *directory, names);
  directory->commit();
}

// Writes the graph's files into the model's bundle, or into a new one with the model's files.
void write_bundle(Bundle bundle, const std::string &out, const GraphData &graph, const WordTable &words, const HmmSet &set,
                  const TransitionScales &scales) {
  OutputDirectory directory(out.empty() ? bundle.path : out);
  std::vector<std::string> names = {"graph.bin", "words.txt"};
  write_graph(graph, directory.file("graph.bin"));
  write_words(words, directory.file("words.txt"));
  if (set.knows_contexts()) {
    write_background(bundle, set, scales, directory, &names);
  } else {
    write_symbols(phone_symbols(set), directory.file("phones.txt"));
    names.push_back("phones.txt");
  }
  commit(std::move(bundle), &directory, std::move(names));
}

// Writes the graph alone, as an archive.
void write_archive(Bundle bundle, const std::string &path, const GraphData &graph, const WordTable &words, const HmmSet &set) {
  note_graph_step(&bundle, this_step());
  OutputFile file(path);
  file.write(graph_archive(bundle, graph, words, phone_symbols(set)));
  file.commit();
}

// Results of grammars may be compared with the background, results of language models are not.
void write(const GraphArguments &arguments, Bundle bundle, const GraphData &graph, const WordTable &words, const HmmSet &set) {
  if (!arguments.lm.empty() || !arguments.hclg.empty()) bundle.decoding.reject_threshold.reset();
  if (arguments.archive.empty()) {
    write_bundle(bundle, arguments.out, graph, words, set, arguments.options.scales);
  } else {
    write_archive(bundle, arguments.archive, graph, words, set);
  }
}

// Prints the number of words, `what` about them, and the first of them; nothing without words.
void print_words(const std::vector<std::string> &words, const char *what) {
  if (words.empty()) return;
  constexpr size_t kMaxListed = 10;
  const size_t n = words.size();
  std::string list;
  for (size_t i = 0; i < std::min(n, kMaxListed); ++i) list += (i > 0 ? ", " : ": ") + words[i];
  if (n > kMaxListed) list += format(" and %zu more", n - kMaxListed);
  print_line(stdout, "%zu words %s%s", n, what, list.c_str());
}

void print_guessed(const GuessedWords &guessed) {
  std::vector<std::string> words;
  for (const auto &[word, pronunciations] : guessed.words()) words.push_back(word);
  print_words(words, "are not in the dictionary and got their pronunciation from --g2p");
}

void print_graph(const GraphData &graph, double start_s) {
  printf("graph     %10u states %10zu arcs, %u of them epsilon, %zu transition-ids\n", graph.n_states(), graph.arcs.size(),
         graph.epsilon_begin.back() - graph.epsilon_begin.front(), graph.transitions.size() - 1);
  printf("%.1f s, peak memory %.0f MB\n", wall_seconds() - start_s, double(peak_memory_bytes()) / 1e6);
}

// Imports a graph made elsewhere for the model's own transition-ids.
void import_graph(const GraphArguments &arguments, const Bundle &bundle, const HmmSet &set, double start_s) {
  GraphData graph;
  {
    Progress progress("graph");
    progress.update(-1, "reading " + arguments.hclg);
    const WordTable words = {parse_symbols(read_text(arguments.words, {"a table of words and their numbers"}), arguments.words),
                             {}};
    check_are_words(words.words, set, arguments.words);
    graph = read_openfst_graph(arguments.hclg, set, words.words, arguments.words);
    if (!bundle.scores || bundle.scores->topology == TokenTopology::kNone) check_decoding_graph(graph, set, arguments.hclg);
    progress.update(-1, "writing the graph");
    write(arguments, bundle, graph, words, set);
  }
  print_graph(graph, start_s);
}

// Returns the dictionary that lies in a bundle, as for libvosk and senone-serve.
std::string own_lexicon(const std::string &model) {
  const std::string path = model + "/lexicon.dict";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw UsageError("graph: --lexicon is required, as there is no " + path);
  return path;
}

// Prepares a model for grammars that programs compile, so that other speech is rejected there, too.
void make_background(const GraphArguments &arguments) {
  const Bundle bundle = read_bundle(arguments.model);
  if (bundle.has("graph.bin"))
    throw UsageError("graph: --background is for models without a graph; that of " + arguments.model + " brings its background");
  const HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  OutputDirectory directory(arguments.out.empty() ? bundle.path : arguments.out);
  std::vector<std::string> names;
  write_background(bundle, set, arguments.options.scales, directory, &names);
  commit(bundle, &directory, std::move(names));
}

void run_graph(GraphArguments arguments) {
  // An installed bundle is found by its name where it is only read; otherwise a typing error might change it.
  if (!arguments.out.empty() || !arguments.archive.empty()) arguments.model = find_model(arguments.model);
  check(arguments);
  if (arguments.background) return make_background(arguments);
  const double start_s = wall_seconds();
  Bundle bundle = read_bundle(arguments.model);
  HmmSet set = read_hmms(bundle);
  note_results(Grammar(), set, &bundle.decoding);
  if (!arguments.hclg.empty()) return import_graph(arguments, bundle, set, start_s);
  check_contexts(bundle, set);
  std::vector<uint32_t> silence;
  if (!arguments.silence.empty()) {
    const auto names =
        read_silence_names(arguments.silence, {}, "bundles keep only names, so name the phones: --silence SIL,SPN");
    silence = name_silence(&set, names, arguments.model);
  }
  size_t n_left_out = 0, n_words = 0;
  std::string left_out;
  GraphSizes sizes{};
  GraphData graph;
  std::optional<GuessedWords> guessed;
  std::optional<SpelledWords> spelled;
  std::vector<std::string> dropped, unpronounced, unusable, notes;
  if (!arguments.g2p.empty()) {
    guessed.emplace(std::make_shared<G2pModel>(read_g2p_model(arguments.g2p)), set, arguments.g2p_variants);
  }
  const bool has_tokens = token_frames(bundle).topology != TokenTopology::kNone;
  if (arguments.lexicon.empty() && !has_tokens) arguments.lexicon = own_lexicon(arguments.model);
  if (arguments.lexicon.empty()) spelled.emplace(set, *bundle.scores);
  {
    Progress progress("graph");
    const BuildProgress report = [&](double fraction, const std::string &what) { progress.update(fraction, what); };
    Lexicon lexicon;
    if (!arguments.lexicon.empty()) lexicon = read_sphinx_lexicon(arguments.lexicon, set, &n_left_out);
    if (n_left_out > 0) left_out = list_left_out(lexicon, n_left_out, arguments.lexicon);
    notes = lexicon.notes;
    Vocabulary vocabulary;
    vocabulary.pronounced = [&](const std::string &word) {
      return lexicon.contains(word) || (guessed && guessed->pronounces(word)) || (spelled && spelled->pronounces(word));
    };
    vocabulary.dictionary = spelled ? "the tokens of " + arguments.model : arguments.lexicon;
    vocabulary.drop_unknown = arguments.drop_unknown;
    vocabulary.dropped = &dropped;
    vocabulary.why_left_out = [&](const std::string &word) {
      const auto left_out = lexicon.left_out.find(word);
      return left_out == lexicon.left_out.end() ? "" : left_out->second.why();
    };
    Grammar grammar = read_grammar(arguments, vocabulary, report);
    note_results(grammar, set, &bundle.decoding);
    if (arguments.lm.empty() && !bundle.decoding.compares()) {
      notes.push_back(
          "the model has too few phones to tell by them what is not in a grammar, so nothing is rejected; "
          "`senone recognize --reject 0.5` compares all the same");
    }
    for (const std::string &word : dropped) (lexicon.left_out.count(word) > 0 ? unusable : unpronounced).push_back(word);
    if (guessed) add_words(&lexicon, guessed->words(), arguments.g2p);
    if (spelled) add_words(&lexicon, spelled->words(), arguments.model);
    n_words = grammar.words.size() - 1;
    add_outputs(&grammar, lexicon);
    GraphOptions options = arguments.options;
    options.filler_phones = filler_phones(bundle, set);
    options.filler_phones.insert(options.filler_phones.end(), silence.begin(), silence.end());
    options.tokens = token_frames(bundle);
    options.tokens.needs_delimiter = arguments.delimiter == "required" || (arguments.delimiter.empty() && spelled);
    options.n_threads = 0;
    graph = build_graph(set, lexicon, grammar, options, report, &sizes);
    progress.update(-1, "writing the graph");
    write(arguments, bundle, graph, {grammar.words, grammar.labels}, set);
  }
  for (const std::string &note : notes) print_line(stderr, "senone: note: %s", note.c_str());
  if (n_left_out > 0) print_line(stdout, "%s", left_out.c_str());
  if (guessed) print_guessed(*guessed);
  print_words(unpronounced, "have no pronunciation and were left out");
  print_words(unusable, "have no pronunciation that the model has the phones of, and were left out");
  printf("grammar   %10" PRIu64 " states %10" PRIu64 " arcs, %zu words\n", sizes.grammar_states, sizes.grammar_arcs, n_words);
  printf("lexical   %10" PRIu64 " states %10" PRIu64 " arcs\n", sizes.lexical_states, sizes.lexical_arcs);
  printf("expanded  %10" PRIu64 " states %10" PRIu64 " arcs\n", sizes.expanded_states, sizes.expanded_arcs);
  print_graph(graph, start_s);
}

void add_graph(Command app) {
  const auto arguments = std::make_shared<GraphArguments>();
  Command graph = app.command("graph", "Build a recognition graph from a dictionary and a language model or grammar");
  graph.option("--model", arguments->model, "Bundle made by senone import; gets the graph unless --out or --archive is given, with which an installed one may "
               "be named")
      .required();
  graph.option("--lexicon", arguments->lexicon,
               "Dictionary in the form of CMU Sphinx, Kaldi, MFA or HTK; default: lexicon.dict in the bundle, while tokens spell "
               "the words (docs/ctc.md)");
  graph.option("--silence", arguments->silence,
               "Phones of silence, such as pau,sp, or a file of their names: optional between words (default: the model's)");
  graph.option("--g2p", arguments->g2p, "Model of senone g2p, which pronounces the words that the dictionary lacks");
  graph.option("--g2p-nbest", arguments->g2p_variants, "Pronunciations of each of these words")
      .range(1u, static_cast<uint32_t>(kMaxPronunciations))
      .shows_default();
  graph.option("--lm", arguments->lm, "n-gram language model: ARPA text or CMU Sphinx's trie");
  graph.option("--jsgf", arguments->jsgf, "Grammar in JSGF");
  graph.option("--rule", arguments->rule, "Rule of the JSGF grammar to recognise (default: all public rules)");
  graph.option("--words", arguments->words, "List of words, one a line, said in any number and order");
  graph.option("--keywords", arguments->keywords,
               "List of keywords and phrases, one a line, found anywhere in speech: docs/keywords.md");
  graph.option("--hclg", arguments->hclg, "Graph of Kaldi for this very model (OpenFst); --words is then its words.txt");
  graph.flag("--background", arguments->background,
             "No graph, but what results of grammars are compared with, for a model whose grammars programs compile");
  graph.flag("--single", arguments->single, "One word of --words, not any number");
  graph.option("--out", arguments->out, "New bundle to write instead of changing the model's");
  graph.option("--archive", arguments->archive, "File to write the graph alone to, for asr_engine_add_graph (.sgraph)");
  graph.option("--case", arguments->letter_case, "Change the grammar's words to the dictionary's case")
      .one_of({"asis", "lower", "upper"})
      .shows_default();
  graph
      .option("--delimiter", arguments->delimiter,
              "Of models of tokens: whether the token between words has to come there (default: only without --lexicon)")
      .one_of(std::vector<std::string>{"optional", "required"});
  graph.flag("--drop-unknown", arguments->drop_unknown, "Leave out words that have no pronunciation instead of refusing");
  graph.option("--prune", arguments->prune, "Leave out n-grams that change perplexity by less than this, such as 1e-8")
      .range(0.0, 1.0);
  graph.option("--silence-prob", arguments->options.silence_prob, "Probability of silence between words")
      .range(0.0, 1.0)
      .shows_default();
  graph.option("--filler-prob", arguments->options.filler_prob, "Probability of each other filler between words")
      .range(0.0, 1.0)
      .shows_default();
  graph.option("--transition-scale", arguments->options.scales.transition, "Weight of the costs between HMM states")
      .range(0.0, 100.0)
      .shows_default();
  graph
      .option("--self-loop-scale", arguments->options.scales.self_loop,
              "Weight of the costs of staying in an HMM state or leaving")
      .range(0.0, 100.0)
      .shows_default();
  add_quiet(graph);
  graph.callback([arguments] { run_graph(*arguments); });
}

const Subcommand kGraph{"graph", add_graph};

}  // namespace
}  // namespace asr::tool
