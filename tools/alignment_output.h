// SPDX-License-Identifier: Apache-2.0
// AlignmentOutput writes the times of words and phones for `senone align`: CTM lines, TextGrids, subtitles and JSON
// lines.
#pragma once

#include <memory>
#include <string>

#include "builder/align/text_aligner.h"
#include "core/base/file.h"

namespace asr::tool {

struct AlignmentPaths {
  std::string ctm, phone_ctm, json;  // files, "-" is standard output; "": none
  std::string text_grids;            // an existing folder, which gets ID.TextGrid for each recording; "": none
  std::string subtitles;             // the same, which gets ID.srt
  bool has_goodness = false;         // JSON has the goodness of phones
};

class AlignmentOutput {
 public:
  // Throws if a file cannot be made there.
  explicit AlignmentOutput(const AlignmentPaths &paths);

  // Throws before anything of the transcript is written to a file of many recordings, if its own files cannot be made.
  void write(const TimedTranscript &transcript);
  void commit();

  // Returns true if the files of a recording are there, each of which is written whole, and there are no others.
  bool has_all_of(const std::string &id) const;
  std::string text_grid_of(const std::string &id) const;  // its path; "" if none is written
  std::string subtitles_of(const std::string &id) const;  // likewise

 private:
  const std::string text_grids_, subtitles_;
  const bool has_goodness_;
  std::unique_ptr<OutputFile> ctm_, phone_ctm_, json_;
};

}  // namespace asr::tool
