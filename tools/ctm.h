// SPDX-License-Identifier: Apache-2.0
// Recognised words with confidences, and the quality of the confidences. For `senone wer --nce`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/word_errors.h"

namespace asr::tool {

struct ConfidentWords {
  Words words;
  std::vector<double> confidences;  // [words]
};

// Reads NIST's CTM lines "utt-id channel start duration word confidence", or the JSON lines of `senone recognize
// --json`, whose rejected utterances have no words. In CTM ";;" begins a comment, and words are in the order of their
// lines. Throws asr::Error naming the line, also if a confidence is missing or not within 0 ... 1.
std::map<std::string, ConfidentWords> parse_confident_words(const std::string &text, const std::string &path,
                                                            const TranscriptOptions &options);

// Normalised cross entropy is the fraction by which the confidences lower the entropy of word correctness, given the share of
// correct words. 1 is perfect, 0 is uninformative, wrong certainty is negative.
//   p = n_right / n     H = -n_right log2 p - (n - n_right) log2 (1 - p)
//   NCE = (H + sum over right words of log2 c + sum over wrong words of log2 (1 - c)) / H
// Confidences are clamped to at least 1e-4 from 0 and 1, so that no single word decides. NaN if all words are right or all are
// wrong.
class CrossEntropy {
 public:
  void add(bool right, double confidence);
  double normalised() const;
  size_t n_words() const { return n_right_ + n_wrong_; }
  size_t n_right() const { return n_right_; }

 private:
  size_t n_right_ = 0, n_wrong_ = 0;
  double log2_sum_ = 0;
};

}  // namespace asr::tool
