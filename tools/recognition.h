// SPDX-License-Identifier: Apache-2.0
// What was recognised in a recording and the formats it is printed in. Made by recognize.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/lattice/lattice.h"

namespace asr::tool {

struct RecognisedWord {
  std::string text;
  double start_s, end_s;
  float confidence;                  // -1: not computed
  std::string rule = "", tags = "";  // of the grammar; tags are joined by '\n'
};

struct RecognisedAlternative {
  std::string text;
  std::vector<RecognisedWord> words;
  double graph_cost = 0, acoustic_cost = 0;
};

struct Recognition {
  std::string id, path;
  std::string error;                  // empty if all went well
  std::vector<std::string> warnings;  // sentences about the recording
  RecognisedAlternative best;
  std::vector<RecognisedAlternative> others;  // that --nbest asked for
  double audio_s = 0, acoustic_scale = 0;     // the scale is known where there is a lattice
  uint32_t flags = 0;                         // ASR_FLAG_*
  float out_of_grammar = -1;                  // -1: not known
  std::optional<bool> rejected;               // with --reject
  std::optional<CompactLattice> lattice;      // until it is written
  std::deque<Recognition> parts;  // with --endpoint: the utterances found so far, for which best and others are empty
  uint32_t part = 0;              // of one of these: its number in the recording, from 1
  bool done = false;              // nothing more is added

  bool is_rejected() const { return rejected.value_or(false); }
};

std::string to_text(const Recognition &recognition);              // the words, or with --nbest lines: number, total cost, words
std::string to_json(const Recognition &recognition);              // one line
std::string to_ctm(const Recognition &recognition);               // NIST: id, channel, start, duration, word
std::string to_srt(const Recognition &recognition, int *number);  // subtitles; *number: of the last one before, and after
std::string to_hyp(const Recognition &recognition);               // words (id)

}  // namespace asr::tool
