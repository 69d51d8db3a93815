// SPDX-License-Identifier: Apache-2.0
// Pronunciation dictionaries in CMU Sphinx form: "word phone phone ..." lines, variants as "word(2)", comments after "##", ";;"
// or "# ", also at the ends of lines. They are read as lines for other parts (builder/graph/lexicon.h), and as words with
// letters and phones for training.
//
// Before its phones a line may have a probability, as in Kaldi's lexiconp.txt; that and three numbers about silence, as in
// MFA's dictionaries and Kaldi's lexiconp_silprob.txt; or what HTK has there, "[output] probability", either of which may be
// missing. A number is a probability if it has a decimal point, or if every line of the dictionary has a number there, unless
// it is the name of a phone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asr {

struct DictionaryLine {
  size_t number;                      // from 1
  std::string word;                   // without "(2)"
  std::vector<std::string> phones;    // at least one, at most kMaxWordPhones
  double probability = 1;             // of the pronunciation; above 0
  bool has_silence = false;           // true: it also has the three numbers about silence
  std::optional<std::string> output;  // HTK's output symbol, which may be empty; unset: none, or that of the word itself
};

// Calls `use` for each line except empty ones and comments; throws naming the line if it is malformed. is_phone tells the names
// of phones from numbers and output symbols; without it none is known.
void read_dictionary_lines(const std::string &text, const std::string &source,
                           const std::function<void(const DictionaryLine &line)> &use,
                           const std::function<bool(const std::string &name)> &is_phone = {});

struct PronouncedWord {
  std::string word;
  std::vector<std::vector<uint32_t>> pronunciations;  // distinct phone sequences
};

struct Pronunciations {
  bool had_positions = false;         // the phones had Kaldi's endings of positions in words, which were taken off
  std::vector<std::string> phones;    // sorted
  std::vector<PronouncedWord> words;  // sorted, distinct
};

// Reads a dictionary. If every word of several phones has Kaldi's endings (HELLO HH_B AH_I L_I OW_E), all endings are taken
// off: they follow from the place in the word, and a phone is the same with each.
Pronunciations parse_pronunciations(const std::string &text, const std::string &source);
// Returns the code point that begins at *at and moves *at behind it; unset if the text is not UTF-8.
std::optional<uint32_t> next_letter(std::string_view text, size_t *at);
// Returns the code points of UTF-8; throws naming `source` if the text is not UTF-8.
std::vector<uint32_t> letters_of(std::string_view word, const std::string &source);
std::string letter_text(uint32_t letter);  // UTF-8

}  // namespace asr
