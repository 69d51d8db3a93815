// SPDX-License-Identifier: Apache-2.0
// What was recognised in a recording and the formats it is printed in. Made by recognize.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr::tool {

struct RecognisedWord {
  std::string text;
  double start_s, end_s;
  float confidence;  // -1: not computed
};

struct Recognition {
  std::string id, path;
  std::string error;  // empty if all went well
  std::string text;
  std::vector<RecognisedWord> words;
  double audio_s = 0, graph_cost = 0, acoustic_cost = 0;
  uint32_t flags = 0;  // ASR_FLAG_*
  bool done = false;   // nothing more is added
};

std::string to_json(const Recognition &recognition);  // one line
std::string to_ctm(const Recognition &recognition);   // NIST: id, channel, start, duration, word
std::string to_srt(const Recognition &recognition);   // subtitles
std::string to_hyp(const Recognition &recognition);   // words (id)

}  // namespace asr::tool
