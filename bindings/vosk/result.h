// SPDX-License-Identifier: Apache-2.0
// Results in the forms of Vosk: JSON as its library lays it out, because there are programs that cut it by position, and NLSML.
#pragma once

#include <senone.hpp>
#include <string>
#include <vector>

namespace senone::vosk {

constexpr char kUnknown[] = "[unk]";  // what Vosk's grammars call other speech

struct ResultOptions {
  bool words = false, partial_words = false, nlsml = false;
  int max_alternatives = 0;
};

// An event of a stream that began `offset_s` after the recognizer's first sample.
struct Heard {
  Event event;
  double offset_s = 0;
  bool has_unknown = false;  // its grammar has "[unk]", which is what rejected speech is called then
};

// Returns the result of the utterances that have ended since the last one.
std::string result_of(const std::vector<Heard> &finals, const ResultOptions &options);

// Returns the partial result: utterances that have ended since the last result, and the words of the present one.
std::string partial_result_of(const std::vector<Heard> &finals, const Heard &partial, const ResultOptions &options);

}  // namespace senone::vosk
