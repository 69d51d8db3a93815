// SPDX-License-Identifier: Apache-2.0
// AlignmentOutput writes the times of words and phones for `senone align`: CTM lines, TextGrids and JSON lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/align/aligned_words.h"
#include "core/base/file.h"

namespace asr::tool {

struct TimedPhone {
  std::string name;
  double begin_s, end_s;
  double log_likelihood;                // mean of its frames
  std::optional<double> goodness = {};  // compared with all phones; see builder/align/goodness.h
  std::string likeliest = {};           // the same
};

struct TimedWord {
  uint32_t number;                 // of the text's words, or kForeign
  std::vector<TimedPhone> phones;  // at least one

  double begin_s() const { return phones.front().begin_s; }
  double end_s() const { return phones.back().end_s; }
};

struct TimedTranscript {
  std::string id;
  double duration_s;
  std::vector<TimedWord> words;   // as they are said
  std::vector<std::string> text;  // the text's words, some of which may not be said
};

struct AlignmentPaths {
  std::string ctm, phone_ctm, json;  // files, "-" is standard output; "": none
  std::string text_grids;            // an existing folder, which gets ID.TextGrid for each recording; "": none
  bool has_goodness = false;         // JSON has the goodness of phones
};

class AlignmentOutput {
 public:
  // Throws if a file cannot be made there.
  explicit AlignmentOutput(const AlignmentPaths &paths);

  void write(const TimedTranscript &transcript);
  void commit();

 private:
  const std::string text_grids_;
  const bool has_goodness_;
  std::unique_ptr<OutputFile> ctm_, phone_ctm_, json_;
};

}  // namespace asr::tool
