// SPDX-License-Identifier: Apache-2.0
// A bundle: the directory that holds a model and its graph. docs/bundle.md describes every file.
//   senone.json   version, front end, decoding defaults, list of files with sizes and checksums
//   acoustic.bin  Gaussians and weights       hmms.bin   phones, HMMs, contexts      (from `senone import`)
//   graph.bin     the decoding graph          words.txt  word symbols  phones.txt    (from `senone graph`)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"
#include "core/feature/front_end.h"
#include "core/model/score_model.h"

namespace asr {

// Search settings suited to the model and graph; a stream's config may override them.
struct DecodingDefaults {
  double beam = 13;
  double acoustic_scale = 0.1;
  double word_insertion_cost = 0;
  uint32_t max_active = 7000;
  // For a grammar: results with a higher asr_event_out_of_grammar are rejected. 1, or unset for anything but a grammar: results
  // are not compared with the background.
  std::optional<double> reject_threshold;
  bool has_garbage = false;  // phones between words, of any position, are of any speech, which the graph holds
  // Keywords that the graph finds, and their thresholds: confidences below which a keyword is left out of results. The key is
  // the rule of the keyword's words (WordLabel). Empty for any other graph.
  std::map<std::string, double> keywords;

  bool compares() const { return reject_threshold.value_or(1) < 1; }
};

struct BundleFile {
  uint64_t size = 0;
  uint64_t checksum = 0;  // asr::checksum of the whole file
};

// The command that made files of a bundle.
struct BundleStep {
  std::string version;                 // version of the program
  std::vector<std::string> arguments;  // its command line, such as "graph", "--model", ...
};

struct Bundle {
  std::string path;
  std::string name;                 // display name of the model
  std::string source;               // display name of the imported source
  std::vector<BundleStep> made_by;  // in order; empty if not recorded
  FrontEnd front_end;
  std::optional<ScoreModel> scores;  // set: there is no acoustic.bin, and the front end has the frame shift only
  DecodingDefaults decoding;
  std::map<std::string, BundleFile> files;  // key: name inside the directory
  // Pronunciations recorded by the importer: filler words of the model (noisedict), word to phones.
  std::vector<std::pair<std::string, std::vector<std::string>>> filler_words;

  std::string file(const std::string &name) const { return path + "/" + name; }
  bool has(const std::string &name) const { return files.count(name) != 0; }
};

// Throws ASR_UNSUPPORTED if the bundle has no Gaussians because its log-likelihoods are computed elsewhere.
void check_has_gaussians(const Bundle &bundle);

// Throws ASR_UNSUPPORTED if the model's features are made elsewhere, so that audio has none.
void check_takes_audio(const Bundle &bundle);

// Reads and checks senone.json, and checks size and checksum of the listed files. The reader of `unread` checks that file
// itself. Throws asr::Error: ASR_NOT_FOUND with the name of a missing part, ASR_BAD_FILE with the file and field.
Bundle read_bundle(const std::string &path, const std::string &unread = "");
Bundle read_bundle_index(const std::string &path);  // senone.json only, without the other files
void check_bundle_file_size(const std::string &path, const BundleFile &listed, uint64_t size);
void check_bundle_file(const std::string &path, const BundleFile &listed, const FileSum &found);
// Reads the listed file to check it, unless its size differs already.
void check_bundle_file(const Bundle &bundle, const std::string &name);

// Writes senone.json into `directory`, with size and checksum of the files `names` there. Other fields are copied from the
// bundle.
void write_bundle_index(const Bundle &bundle, const OutputDirectory &directory, const std::vector<std::string> &names);
void write_bundle_index(const Bundle &bundle, const std::string &directory, const std::vector<std::string> &names);

// Returns the text of senone.json with all of the bundle's files. The bundle read from a text has an empty path; `source` names
// the text in errors.
std::string bundle_index_text(const Bundle &bundle);
Bundle parse_bundle_index(const std::string &text, const std::string &source);

// A grammar's label of a word symbol: the public rule of its sentence, and the word's tags, joined by '\n'; "" without.
struct WordLabel {
  std::string rule, tags;
};

// words.txt and phones.txt: "symbol id" lines, ids from 0 without gaps, "<eps>" is 0. `path` names a text in errors.
std::vector<std::string> read_symbols(const std::string &path);
std::vector<std::string> parse_symbols(std::string_view text, const std::string &path);
std::string symbols_text(const std::vector<std::string> &symbols, const std::string &path);
void write_symbols(const std::vector<std::string> &symbols, const FileAt &place);

// words.txt with labels: "symbol id<TAB>rule<TAB>tags", where \t, \n, \r and \\ are escaped. The functions above ignore labels.
struct WordTable {
  std::vector<std::string> words;
  std::vector<WordLabel> labels;  // [words], or empty if no word has one
};
WordTable parse_words(std::string_view text, const std::string &path);
std::string words_text(const WordTable &table, const std::string &path);
void write_words(const WordTable &table, const FileAt &place);

}  // namespace asr
