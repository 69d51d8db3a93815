// SPDX-License-Identifier: Apache-2.0
// Recognition is the result for a recording; the functions format it for printing. recognize.cc makes it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "api/asr.h"
#include "core/lattice/lattice.h"

namespace asr::tool {

struct RecognisedWord {
  std::string text;
  double start_s, end_s;
  float confidence;                  // -1: not computed
  std::string rule = "", tags = "";  // labels of the grammar; tags are joined by '\n'
};

struct RecognisedAlternative {
  std::string text;
  std::vector<RecognisedWord> words;
  double graph_cost = 0, acoustic_cost = 0;
};

struct Recognition {
  std::string id, path;
  std::string error;                  // empty on success
  std::vector<std::string> warnings;  // messages about the recording that are not printed yet
  RecognisedAlternative best;
  std::vector<RecognisedAlternative> others;  // alternatives of --nbest
  double audio_s = 0, acoustic_scale = 0;     // acoustic_scale is set with a lattice
  uint32_t flags = 0;                         // ASR_FLAG_*
  float out_of_grammar = -1;                  // -1: not compared
  bool is_left_out = false;                   // true: its words are in no output except JSON
  std::optional<double> lattice_beam;         // width of the lattice, if there is one
  std::optional<CompactLattice> lattice;      // present until it is written
  std::deque<Recognition> parts;  // with --endpoint: the utterances found so far; their recording has no best and others
  uint32_t part = 0;              // number of such an utterance in its recording, from 1
  bool done = false;              // nothing more will be added

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
  bool stops_early() const { return has(ASR_FLAG_NOT_FINAL_STATE) && !best.words.empty(); }  // within a sentence
};

std::string to_text(const Recognition &recognition);  // the words; with --nbest one line per path: number, total cost, words
std::string to_json(const Recognition &recognition);  // one line
std::string to_ctm(const Recognition &recognition);   // NIST: id, channel, start, duration, word
std::string to_srt(const Recognition &recognition, int *number);  // subtitles; *number: last subtitle's number, updated
std::string to_hyp(const Recognition &recognition);               // words (id)

}  // namespace asr::tool
