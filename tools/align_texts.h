// SPDX-License-Identifier: Apache-2.0
// What `senone align` finds in folders: recordings, and texts beside them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/recognize.h"
#include "tools/recording_rows.h"
#include "tools/word_errors.h"

namespace asr::tool {

// Returns the recordings below a folder, sorted; their ids are their paths below it without the suffix. Throws if
// there are none. Adds lines about the folders that are passed over: those that cannot be read, and links, which may lead
// back.
std::vector<Utterance> recordings_below(const std::string &folder, std::vector<std::string> *passed_over);

// The recordings and parts of recordings of a data directory of Kaldi.
struct KaldiRecordings {
  std::vector<Utterance> recordings;
  std::vector<RecordingPart> parts;  // of each, by its number; none without a file `segments`
};

// Reads wav.scp, and segments if it is there: lines "id recording begin end" in seconds; an end of -1 is that of the recording.
// A line that names no part becomes a recording with an error.
KaldiRecordings read_kaldi_data(const std::string &folder);

// The rows of a table with a header: recordings, and their texts by id.
struct RecordingTable {
  std::vector<Utterance> recordings;
  Transcripts texts;
};

// Reads a CSV file with columns for the path, relative to the folder of the file, the text, and optionally the id, by default
// the path's stem. A row that names no recording becomes one with an error. Throws if a column is missing or there are no rows.
RecordingTable read_recording_table(const std::string &path);

// The texts of recordings: lines of one file, or a file beside each recording.
class Texts {
 public:
  // path: a file of transcripts; "": the texts lie beside the recordings.
  explicit Texts(const std::string &path);
  // The texts are those of a table.
  Texts(const std::string &path, Transcripts texts) : path_(path), transcripts_(std::move(texts)) {}

  // Throws if there are no words.
  Words of(const Utterance &utterance) const;

  // Returns true if the file is the utterance's text, and may therefore not be replaced.
  bool is_text(const Utterance &utterance, const std::string &path) const;
  // Returns true if the file is the recording or its text.
  bool is_read(const Utterance &utterance, const std::string &path) const;

 private:
  const std::string path_;
  Transcripts transcripts_;

  Words line_of(const std::string &id) const;
};

}  // namespace asr::tool
