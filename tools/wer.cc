// SPDX-License-Identifier: Apache-2.0
// Implements `senone wer REF HYP`: word errors of recognised words against transcripts. An utterance missing in HYP counts as
// empty; one missing in REF is not counted; both are reported. With --nce it also measures the quality of the words'
// confidences.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "builder/text/unpack.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "tools/ctm.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

struct WerOptions {
  std::string ref_path, hyp_path;
  TranscriptOptions transcripts;
  bool align = false, json = false, cross_entropy = false;
};

struct UtteranceResult {
  std::string id;
  std::vector<AlignedPair> alignment;
  WordErrors errors;
};

struct WerResult {
  std::vector<UtteranceResult> utterances;
  std::vector<std::string> missing, extra;  // ids missing in HYP, in REF
  WordErrors errors;
  size_t n_wrong = 0;  // utterances with an error
  CrossEntropy cross_entropy;
};

void check_length(const std::string &id, const Words &ref, const Words &hyp) {
  if (uint64_t{ref.size()} * hyp.size() <= kMaxAlignedCells) return;
  fail(ASR_UNSUPPORTED, "%s: %zu words of REF by %zu of HYP take too long to align; cut the utterance into several", id.c_str(),
       ref.size(), hyp.size());
}

WerResult compare(const Transcripts &refs, const Transcripts &hyps) {
  static const Words kNoWords;
  WerResult result;
  for (const auto &[id, ref] : refs) {
    const auto hyp = hyps.find(id);
    if (hyp == hyps.end()) result.missing.push_back(id);
    const Words &words = hyp == hyps.end() ? kNoWords : hyp->second;
    check_length(id, ref, words);
    UtteranceResult utterance{id, align(ref, words), {}};
    utterance.errors = count_errors(utterance.alignment);
    result.errors += utterance.errors;
    result.n_wrong += utterance.errors.total() > 0;
    result.utterances.push_back(std::move(utterance));
  }
  for (const auto &[id, words] : hyps) {
    if (refs.count(id) == 0) result.extra.push_back(id);
  }
  return result;
}

// The alignment decides which recognised words are right.
CrossEntropy cross_entropy(const WerResult &result, const std::map<std::string, ConfidentWords> &hyps) {
  CrossEntropy sum;
  for (const UtteranceResult &utterance : result.utterances) {
    const auto hyp = hyps.find(utterance.id);
    if (hyp == hyps.end()) continue;
    size_t i = 0;
    for (const AlignedPair &pair : utterance.alignment) {
      if (!pair.hyp.empty()) sum.add(pair.hyp == pair.ref, hyp->second.confidences[i++]);
    }
  }
  return sum;
}

// Counts the substitutions whose words differ in case alone.
size_t n_of_case(const WerResult &result) {
  size_t n = 0;
  for (const UtteranceResult &utterance : result.utterances) {
    for (const auto &[ref, hyp] : utterance.alignment) {
      n += !ref.empty() && !hyp.empty() && ref != hyp && fold_letters(ref) == fold_letters(hyp);
    }
  }
  return n;
}

std::string percent_text(size_t part, size_t whole) {
  const double value = percent(part, whole);
  return std::isnan(value) ? "undefined (no reference words)" : format("%.2f %%", value);
}

nlohmann::json percent_json(size_t part, size_t whole) {
  const double value = percent(part, whole);
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

// Returns one column of an alignment line: `word`, or stars for a gap, as wide as the longer of both words.
std::string cell(const std::string &word, const std::string &other) {
  const auto n_characters = [](const std::string &text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  };
  const auto width = std::max(n_characters(word), n_characters(other));
  return word.empty() ? std::string(size_t(width), '*') : word + std::string(size_t(width - n_characters(word)), ' ');
}

void print_alignment(const UtteranceResult &utterance) {
  std::string ref, hyp;
  for (const AlignedPair &pair : utterance.alignment) {
    ref += " " + cell(pair.ref, pair.hyp);
    hyp += " " + cell(pair.hyp, pair.ref);
  }
  const WordErrors &errors = utterance.errors;
  print_line(stdout, "%s: %zu of %zu words wrong", utterance.id.c_str(), errors.total(), errors.n_ref_words);
  print_line(stdout, "  ref:%s", ref.c_str());
  print_line(stdout, "  hyp:%s", hyp.c_str());
}

void print_text(const WerResult &result, const WerOptions &options) {
  if (options.align) {
    for (const UtteranceResult &utterance : result.utterances) print_alignment(utterance);
  }
  for (const std::string &id : result.missing) print_line(stdout, "missing in %s: %s", options.hyp_path.c_str(), id.c_str());
  for (const std::string &id : result.extra) print_line(stdout, "not in %s: %s", options.ref_path.c_str(), id.c_str());
  const WordErrors &errors = result.errors;
  printf("word error rate %s: %zu errors (%zu substitutions, %zu deletions, %zu insertions) in %zu words\n",
         percent_text(errors.total(), errors.n_ref_words).c_str(), errors.total(), errors.n_substitutions, errors.n_deletions,
         errors.n_insertions, errors.n_ref_words);
  printf("sentence error rate %s: %zu of %zu utterances\n", percent_text(result.n_wrong, result.utterances.size()).c_str(),
         result.n_wrong, result.utterances.size());
  if (!options.cross_entropy) return;
  const CrossEntropy &entropy = result.cross_entropy;
  const double value = entropy.normalised();
  printf("normalised cross entropy %s: %zu of %zu recognised words right\n",
         std::isnan(value) ? "undefined (all words right, or all wrong)" : format("%.3f", value).c_str(), entropy.n_right(),
         entropy.n_words());
}

nlohmann::json errors_json(const WordErrors &errors) {
  return {{"words", errors.n_ref_words},
          {"substitutions", errors.n_substitutions},
          {"deletions", errors.n_deletions},
          {"insertions", errors.n_insertions},
          {"wer_percent", percent_json(errors.total(), errors.n_ref_words)}};
}

void print_json(const WerResult &result, const WerOptions &options) {
  nlohmann::json json = errors_json(result.errors);
  json["utterances"] = result.utterances.size();
  json["wrong_utterances"] = result.n_wrong;
  json["ser_percent"] = percent_json(result.n_wrong, result.utterances.size());
  if (options.cross_entropy) {
    const double value = result.cross_entropy.normalised();
    json["nce"] = std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
  }
  json["missing"] = result.missing;
  json["extra"] = result.extra;
  if (options.align) {
    for (const UtteranceResult &utterance : result.utterances) {
      nlohmann::json item = errors_json(utterance.errors);
      item["id"] = utterance.id;
      item["pairs"] = nlohmann::json::array();
      for (const AlignedPair &pair : utterance.alignment) item["pairs"].push_back({pair.ref, pair.hyp});
      json["alignments"].push_back(std::move(item));
    }
  }
  printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

// Reads a file, or standard input for the path "-".
std::string read_transcripts(const std::string &path) {
  const WantedText wanted{"a file of transcripts"};
  if (path != "-") return read_text(path, wanted);
  std::string text;
  char piece[1 << 16];
  for (size_t n; (n = fread(piece, 1, sizeof(piece), stdin)) > 0;) text.append(piece, n);
  return text_of(unpack(std::move(text), path), path, wanted);
}

WerResult compare_files(const Transcripts &refs, const WerOptions &options) {
  const std::string text = read_transcripts(options.hyp_path);
  if (!options.cross_entropy) return compare(refs, parse_transcripts(text, options.hyp_path, options.transcripts));
  const auto hyps = parse_confident_words(text, options.hyp_path, options.transcripts);
  Transcripts words;
  for (const auto &[id, hyp] : hyps) words[id] = hyp.words;
  WerResult result = compare(refs, words);
  result.cross_entropy = cross_entropy(result, hyps);
  return result;
}

void run(const WerOptions &options) {
  if (options.ref_path == "-" && options.hyp_path == "-") {
    fail(ASR_INVALID_ARGUMENT, "-: standard input cannot be both REF and HYP; name a file for one of them");
  }
  const Transcripts refs = parse_transcripts(read_transcripts(options.ref_path), options.ref_path, options.transcripts);
  if (refs.empty()) {
    fail(ASR_BAD_FILE, "%s: no utterances; give lines of \"words (utt-id)\" or \"utt-id words\"", options.ref_path.c_str());
  }
  const WerResult result = compare_files(refs, options);
  if (options.json) {
    print_json(result, options);
  } else {
    print_text(result, options);
  }
  const size_t n = n_of_case(result);
  if (n > 0)
    print_line(stderr, "senone: note: %zu of the substitutions differ in case alone; --ignore-case takes it for the same", n);
}

void add_wer(Command app) {
  Command command = app.command("wer", "Count word errors against transcripts");
  const auto options = std::make_shared<WerOptions>();
  command.option("REF", options->ref_path, "Transcripts: lines of \"words (utt-id)\" or \"utt-id words\"").required();
  command.option("HYP", options->hyp_path, "Recognised words, in one of these forms; -: standard input").required();
  command.flag("--align", options->align, "Show the words of every utterance side by side");
  command.flag("--ignore-case", options->transcripts.ignore_case, "Take upper and lower case for the same");
  command.flag("--keep-fillers", options->transcripts.keep_fillers, "Count <...>, [...] and ++...++ as words");
  command.flag("--keep-variants", options->transcripts.keep_variants, "Take \"the(2)\" for another word than \"the\"");
  command.flag("--nce", options->cross_entropy,
               "Also judge confidences: HYP is a CTM with them, or what `senone recognize --json` prints");
  command.flag("--json", options->json, "Print JSON");
  command.callback([options] { run(*options); });
}

const Subcommand kWer{"wer", add_wer};

}  // namespace
}  // namespace asr::tool
