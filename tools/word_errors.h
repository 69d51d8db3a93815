// SPDX-License-Identifier: Apache-2.0
// Parses transcripts and compares them, for `senone wer`.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace asr::tool {

using Words = std::vector<std::string>;

// Maps an utterance's id to its words.
using Transcripts = std::map<std::string, Words>;

struct TranscriptOptions {
  bool keep_fillers = false;   // <s>, </s>, <sil>, [NOISE], ++UM++ count as words
  bool keep_variants = false;  // "the(2)" is another word than "the"
  bool ignore_case = false;
};

// Returns the offset of a "(utt-id)" at the end of a line; npos if there is none. Parentheses within it are balanced.
size_t id_in_parentheses(const std::string &line);

// Reads lines of one of two forms: "words (utt-id)", if all lines end so, or "utt-id words". Other text in the parentheses,
// such as a score, is ignored. `path` is for errors: asr::Error if an utterance occurs twice.
Transcripts parse_transcripts(const std::string &text, const std::string &path, const TranscriptOptions &options);

// Returns the words of a text that count, in the form in which they are compared.
Words kept_words(const std::string &text, const TranscriptOptions &options);

// One column of an alignment; an empty word is a gap: a deletion has no hyp, an insertion no ref.
struct AlignedPair {
  std::string ref, hyp;
};

struct WordErrors {
  size_t n_ref_words = 0, n_substitutions = 0, n_deletions = 0, n_insertions = 0;

  size_t total() const { return n_substitutions + n_deletions + n_insertions; }
  WordErrors &operator+=(const WordErrors &other);
};

// Returns an alignment with the fewest errors. Ties prefer pairs to gaps, seen from the end, and deletions to insertions.
std::vector<AlignedPair> align(const Words &ref, const Words &hyp);
WordErrors count_errors(const std::vector<AlignedPair> &alignment);

// Returns part of whole in percent; NaN if the whole is 0 and the part is not, 0 if both are.
double percent(size_t part, size_t whole);

}  // namespace asr::tool
