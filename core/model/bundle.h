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

namespace asr {

// Search settings that suit the model and graph; a stream's config may override them.
struct DecodingDefaults {
  double beam = 13;
  double acoustic_scale = 0.1;
  double word_insertion_cost = 0;
  uint32_t max_active = 7000;
  // Of a grammar: from which asr_event_out_of_grammar on a result is rejected; unset: results are not compared with the
  // background.
  std::optional<double> reject_threshold;
};

struct BundleFile {
  uint64_t size = 0;
  uint64_t checksum = 0;  // asr::checksum of the whole file
};

// A command that made files of a bundle.
struct BundleStep {
  std::string version;                 // of the program
  std::vector<std::string> arguments;  // of its command line, such as "graph", "--model", ...
};

struct Bundle {
  std::string path;
  std::string name;                 // of the model, for people
  std::string source;               // what it was imported from, for people
  std::vector<BundleStep> made_by;  // in their order; empty where it was not noted
  FrontEnd front_end;
  DecodingDefaults decoding;
  std::map<std::string, BundleFile> files;  // by name inside the directory
  // Pronunciation sources noted by the importer: filler words of the model (noisedict), word to phones.
  std::vector<std::pair<std::string, std::vector<std::string>>> filler_words;

  std::string file(const std::string &name) const { return path + "/" + name; }
  bool has(const std::string &name) const { return files.count(name) != 0; }
};

// Reads and checks senone.json, and size and checksum of the files it lists, but for `unread`, which whoever reads it checks.
// Throws asr::Error: ASR_NOT_FOUND with the name of a missing part, ASR_BAD_FILE with the file and field.
Bundle read_bundle(const std::string &path, const std::string &unread = "");
Bundle read_bundle_index(const std::string &path);  // senone.json only: no other file is looked at
void check_bundle_file_size(const std::string &path, const BundleFile &listed, uint64_t size);
void check_bundle_file(const std::string &path, const BundleFile &listed, const FileSum &found);

// Writes senone.json into `directory`, listing size and checksum of `names` found there. Other fields are the bundle's.
void write_bundle_index(Bundle bundle, const std::string &directory, const std::vector<std::string> &names);

// The text of senone.json, of all of the bundle's files; `source` names it in errors. The path of the bundle read is empty.
std::string bundle_index_text(const Bundle &bundle);
Bundle parse_bundle_index(const std::string &text, const std::string &source);

// What a grammar says of a word symbol: the public rule of its sentence, and the word's tags, joined by '\n'; "" without.
struct WordLabel {
  std::string rule, tags;
};

// words.txt and phones.txt: "symbol id" lines, ids from 0 without gaps, "<eps>" is 0. `path` names a text in errors.
std::vector<std::string> read_symbols(const std::string &path);
std::vector<std::string> parse_symbols(std::string_view text, const std::string &path);
std::string symbols_text(const std::vector<std::string> &symbols, const std::string &path);
void write_symbols(const std::vector<std::string> &symbols, const std::string &path);

// words.txt with labels: "symbol id<TAB>rule<TAB>tags", with \t, \n, \r and \\ for such characters. The functions above pass
// over them.
struct WordTable {
  std::vector<std::string> words;
  std::vector<WordLabel> labels;  // [words], or empty where no word has one
};
WordTable parse_words(std::string_view text, const std::string &path);
std::string words_text(const WordTable &table, const std::string &path);
void write_words(const WordTable &table, const std::string &path);

}  // namespace asr
