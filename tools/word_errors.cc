// SPDX-License-Identifier: Apache-2.0
#include "tools/word_errors.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>

#include "core/base/error.h"

namespace asr::tool {
namespace {

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const size_t end = line.find_last_not_of(" \t\r");
    if (end != std::string::npos) lines.push_back(line.substr(0, end + 1));
  }
  return lines;
}

// Where the "(utt-id)" of a line begins; npos if it does not end so.
size_t id_in_parentheses(const std::string &line) {
  if (line.back() != ')') return std::string::npos;
  const size_t open = line.rfind('(');
  if (open == std::string::npos || open + 2 >= line.size()) return std::string::npos;
  const bool is_apart = open == 0 || line[open - 1] == ' ' || line[open - 1] == '\t';
  return is_apart ? open : std::string::npos;
}

bool is_filler(const std::string &word) {
  const char first = word.front(), last = word.back();
  return word.size() > 2 && ((first == '<' && last == '>') || (first == '[' && last == ']') ||
                             (word.compare(0, 2, "++") == 0 && word.compare(word.size() - 2, 2, "++") == 0));
}

// "the" of "the(2)".
std::string without_variant(const std::string &word) {
  const size_t open = word.rfind('(');
  const bool is_variant = open != std::string::npos && open > 0 && word.back() == ')' && open + 2 < word.size() &&
                          word.find_first_not_of("0123456789", open + 1) == word.size() - 1;
  return is_variant ? word.substr(0, open) : word;
}

std::string first_word(const std::string &text) {
  std::string word;
  std::istringstream(text) >> word;
  return word;
}

}  // namespace

Words kept_words(const std::string &text, const TranscriptOptions &options) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (!options.keep_variants) word = without_variant(word);
    if (!options.keep_fillers && is_filler(word)) continue;
    if (options.ignore_case) {
      for (char &c : word) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    }
    words.push_back(word);
  }
  return words;
}

Transcripts parse_transcripts(const std::string &text, const std::string &path, const TranscriptOptions &options) {
  const auto lines = lines_of(text);
  const bool ids_at_end = std::all_of(lines.begin(), lines.end(),
                                      [](const std::string &line) { return id_in_parentheses(line) != std::string::npos; });
  Transcripts transcripts;
  for (const std::string &line : lines) {
    std::string id, words;
    if (ids_at_end) {
      const size_t open = id_in_parentheses(line);
      words = line.substr(0, open);
      id = first_word(line.substr(open + 1, line.size() - open - 2));
    } else {
      id = first_word(line);
      words = line.substr(line.find(id) + id.size());
    }
    if (!transcripts.emplace(id, kept_words(words, options)).second) {
      fail(ASR_BAD_FILE, "%s: utterance \"%s\" is there twice; each must have one line", path.c_str(), id.c_str());
    }
  }
  return transcripts;
}

WordErrors &WordErrors::operator+=(const WordErrors &other) {
  n_ref_words += other.n_ref_words;
  n_substitutions += other.n_substitutions;
  n_deletions += other.n_deletions;
  n_insertions += other.n_insertions;
  return *this;
}

std::vector<AlignedPair> align(const Words &ref, const Words &hyp) {
  // errors[i][j]: the fewest errors between the first i words of ref and the first j of hyp.
  const size_t n_columns = hyp.size() + 1;
  std::vector<uint32_t> errors((ref.size() + 1) * n_columns);
  const auto at = [&](size_t i, size_t j) -> uint32_t & { return errors[i * n_columns + j]; };
  for (size_t i = 0; i <= ref.size(); ++i) {
    for (size_t j = 0; j <= hyp.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = uint32_t(i + j);
      } else {
        const uint32_t pair = at(i - 1, j - 1) + (ref[i - 1] != hyp[j - 1]);
        at(i, j) = std::min({pair, at(i - 1, j) + 1, at(i, j - 1) + 1});
      }
    }
  }

  std::vector<AlignedPair> alignment;
  for (size_t i = ref.size(), j = hyp.size(); i > 0 || j > 0;) {
    if (i > 0 && j > 0 && at(i, j) == at(i - 1, j - 1) + (ref[i - 1] != hyp[j - 1])) {
      alignment.push_back({ref[--i], hyp[--j]});
    } else if (i > 0 && at(i, j) == at(i - 1, j) + 1) {
      alignment.push_back({ref[--i], ""});
    } else {
      alignment.push_back({"", hyp[--j]});
    }
  }
  std::reverse(alignment.begin(), alignment.end());
  return alignment;
}

WordErrors count_errors(const std::vector<AlignedPair> &alignment) {
  WordErrors errors;
  for (const AlignedPair &pair : alignment) {
    errors.n_ref_words += !pair.ref.empty();
    if (pair.hyp.empty()) {
      ++errors.n_deletions;
    } else if (pair.ref.empty()) {
      ++errors.n_insertions;
    } else {
      errors.n_substitutions += pair.ref != pair.hyp;
    }
  }
  return errors;
}

double percent(size_t part, size_t whole) {
  if (whole == 0) return part == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  return 100.0 * double(part) / double(whole);
}

}  // namespace asr::tool
