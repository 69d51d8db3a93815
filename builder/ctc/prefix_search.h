// SPDX-License-Identifier: Apache-2.0
// PrefixSearch is CTC's prefix beam search with words: beams are texts, whose alignments are summed, and a language model
// scores each word as it ends. Its rules, in the order in which they apply, are those of pyctcdecode, so that texts and scores
// are, too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/ctc/word_lm.h"

namespace asr {

// The labels of a network. Labels of whole words' pieces begin with U+2581 where a word begins.
struct CtcLabels {
  std::vector<std::string> labels;  // "": the blank; " ": between words, unless has_pieces
  bool has_pieces = false;
};

struct PrefixOptions {
  uint32_t beam_width = 100;
  double beam_prune_logp = -10;  // beams that are worse than the best one by more are dropped
  double token_min_logp = -5;    // labels that are less probable are not searched, except a frame's best
  bool prune_history = false;    // of beams that the language model cannot tell apart, the best one is kept
  std::vector<std::string> hotwords;
  double hotword_weight = 10;
  double alpha = 0.5, beta = 1.5;  // of the language model's score, and of each word
  double unk_score_offset = -10;   // log10
  bool lm_score_boundary = true;
  bool has_start_state = false;
  uint64_t start_state = 0;
};

struct PrefixBeam {
  std::string text;
  std::vector<int32_t> start_frames, end_frames;  // of its words
  double logit_score = 0, lm_score = 0;           // of the acoustics, and with all that is added
  uint64_t lm_state = 0;
};

// Returns the beams, the best one first. log_probs: [n_rows][labels]. lm: nullptr for none. Throws asr::Error.
std::vector<PrefixBeam> prefix_search(const CtcLabels &labels, const WordLm *lm, const double *log_probs, size_t n_rows,
                                      const PrefixOptions &options);

}  // namespace asr
