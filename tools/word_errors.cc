// SPDX-License-Identifier: Apache-2.0
#include "tools/word_errors.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <unordered_map>

#include "builder/text/unicode.h"
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

bool is_filler(const std::string &word) {
  const char first = word.front(), last = word.back();
  return word.size() > 2 && ((first == '<' && last == '>') || (first == '[' && last == ']') ||
                             (word.compare(0, 2, "++") == 0 && word.compare(word.size() - 2, 2, "++") == 0));
}

// Returns "the" for "the(2)".
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

// Returns true for "2.34", and for no number without a point: transcripts may have digits.
bool is_time(const std::string &field) {
  const size_t point = field.find('.');
  return point != std::string::npos && point > 0 && field.find_first_not_of("0123456789", point + 1) == std::string::npos &&
         field.find_first_not_of("0123456789") == point;
}

// Refuses NIST's CTM, lines "utterance channel begin duration word", and STM, "file channel speaker begin end <label> words".
// As transcripts their numbers would count as words.
void check_no_times(const std::vector<std::string> &lines, const std::string &path) {
  const auto is_comment = [](const std::string &line) { return line.compare(0, 2, ";;") == 0; };
  const auto all_have_times = [&](size_t at, size_t n_min, size_t n_max) {
    return std::all_of(lines.begin(), lines.end(), [&](const std::string &line) {
      std::istringstream stream(line);
      const std::vector<std::string> fields{std::istream_iterator<std::string>(stream), {}};
      return is_comment(line) ||
             (fields.size() >= n_min && fields.size() <= n_max && is_time(fields[at]) && is_time(fields[at + 1]));
    });
  };
  const auto has_id = [](const std::string &line) { return id_in_parentheses(line) != std::string::npos; };
  if (std::all_of(lines.begin(), lines.end(), is_comment) || std::all_of(lines.begin(), lines.end(), has_id)) return;
  // A CTM has a channel, a number or a letter, where transcripts have a word.
  const bool is_ctm = all_have_times(2, 5, 6);
  if (!is_ctm && !all_have_times(3, 5, SIZE_MAX)) return;
  fail(ASR_BAD_FILE, "%s: is %s, whose lines have times; give lines \"words (utt-id)\" or \"utt-id words\"%s", path.c_str(),
       is_ctm ? "a CTM" : "an STM", is_ctm ? ", as of `senone recognize --hyp`, or --nce for its confidences" : "");
}

}  // namespace

size_t id_in_parentheses(const std::string &line) {
  if (line.size() < 3 || line.back() != ')') return std::string::npos;
  size_t n_open = 0;
  for (size_t i = line.size(); i-- > 0;) {
    n_open += line[i] == ')';
    if (line[i] != '(' || --n_open > 0) continue;
    const bool is_apart = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    return is_apart && i + 2 < line.size() ? i : std::string::npos;
  }
  return std::string::npos;
}

Words kept_words(const std::string &text, const TranscriptOptions &options) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (!options.keep_variants) word = without_variant(word);
    if (!options.keep_fillers && is_filler(word)) continue;
    if (options.ignore_case) word = fold_letters(word);
    words.push_back(word);
  }
  return words;
}

Transcripts parse_transcripts(const std::string &text, const std::string &path, const TranscriptOptions &options) {
  const auto lines = lines_of(text);
  check_no_times(lines, path);
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
    if (id.empty()) {
      fail(ASR_BAD_FILE, "%s: \"%s\" has no utterance's name in its parentheses; give one", path.c_str(), line.c_str());
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

namespace {

// Aligns in memory linear in the words (Hirschberg 1975). It finds where the alignment of all words leaves the middle word of
// ref, then aligns both halves the same way. The errors of a cell's neighbours determine the step back. A half's errors differ
// from the whole's by a constant on the alignment, and are not lower elsewhere, so both choose the same steps.
class Aligner {
 public:
  Aligner(const Words &ref, const Words &hyp) : ref_(ref), hyp_(hyp), row_(hyp.size() + 1), leaves_(hyp.size() + 1) {
    std::unordered_map<std::string, uint32_t> number_of;
    const auto number = [&](const std::string &word) {
      return number_of.emplace(word, static_cast<uint32_t>(number_of.size())).first->second;
    };
    for (const std::string &word : ref) ref_numbers_.push_back(number(word));
    for (const std::string &word : hyp) hyp_numbers_.push_back(number(word));
  }

  std::vector<AlignedPair> run() {
    align(0, ref_.size(), 0, hyp_.size());
    return std::move(alignment_);
  }

 private:
  static constexpr size_t kFewCells = 1 << 16;
  enum class Step : uint8_t { kPair, kDeletion, kInsertion };

  // Computes the errors row by row, for words [i0, i1) of ref and [j0, j1) of hyp. Calls visit(i, j, step) with the last step
  // of the best alignment of i words and j words. Ties prefer a pair, then a deletion.
  template <class Visit>
  void fill(size_t i0, size_t i1, size_t j0, size_t j1, Visit visit) {
    const size_t n_columns = j1 - j0;
    for (size_t j = 0; j <= n_columns; ++j) row_[j] = static_cast<uint32_t>(j);
    for (size_t i = 1; i <= i1 - i0; ++i) {
      uint32_t diagonal = row_[0];
      row_[0] = static_cast<uint32_t>(i);
      visit(i, 0, Step::kDeletion);
      for (size_t j = 1; j <= n_columns; ++j) {
        const uint32_t pair = diagonal + (ref_numbers_[i0 + i - 1] != hyp_numbers_[j0 + j - 1]);
        const uint32_t deletion = row_[j] + 1, insertion = row_[j - 1] + 1;
        diagonal = row_[j];
        row_[j] = std::min({pair, deletion, insertion});
        visit(i, j, row_[j] == pair ? Step::kPair : row_[j] == deletion ? Step::kDeletion : Step::kInsertion);
      }
    }
  }

  void align(size_t i0, size_t i1, size_t j0, size_t j1) {
    if (i1 - i0 <= 1 || (i1 - i0) * (j1 - j0 + 1) <= kFewCells) return align_few(i0, i1, j0, j1);
    const size_t middle = (i1 - i0) / 2;
    // leaves_[j]: the column in which the best alignment of the words so far leaves row `middle`.
    size_t before = 0;  // leaves_[j - 1] of the row above
    fill(i0, i1, j0, j1, [&](size_t i, size_t j, Step step) {
      if (i <= middle) return;
      const size_t above = i == middle + 1 ? j : leaves_[j];
      leaves_[j] = step == Step::kDeletion ? above : step == Step::kInsertion ? leaves_[j - 1] : before;
      before = above;
    });
    const size_t column = leaves_[j1 - j0];
    align(i0, i0 + middle, j0, j0 + column);
    align(i0 + middle, i1, j0 + column, j1);
  }

  void align_few(size_t i0, size_t i1, size_t j0, size_t j1) {
    const size_t n_columns = j1 - j0 + 1;
    steps_.assign((i1 - i0 + 1) * n_columns, Step::kInsertion);
    fill(i0, i1, j0, j1, [&](size_t i, size_t j, Step step) { steps_[i * n_columns + j] = step; });
    const size_t begin = alignment_.size();
    for (size_t i = i1 - i0, j = j1 - j0; i > 0 || j > 0;) {
      const Step step = steps_[i * n_columns + j];
      alignment_.emplace_back();
      if (step != Step::kInsertion) alignment_.back().ref = ref_[i0 + --i];
      if (step != Step::kDeletion) alignment_.back().hyp = hyp_[j0 + --j];
    }
    std::reverse(alignment_.begin() + static_cast<std::ptrdiff_t>(begin), alignment_.end());
  }

  const Words &ref_, &hyp_;
  std::vector<uint32_t> ref_numbers_, hyp_numbers_;
  std::vector<uint32_t> row_;   // [hyp + 1]
  std::vector<size_t> leaves_;  // [hyp + 1]
  std::vector<Step> steps_;
  std::vector<AlignedPair> alignment_;
};

}  // namespace

std::vector<AlignedPair> align(const Words &ref, const Words &hyp) { return Aligner(ref, hyp).run(); }

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
