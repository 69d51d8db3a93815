// SPDX-License-Identifier: Apache-2.0
// The recordings and texts that `senone train` is given: folders, data directories of Kaldi, tables and lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/train/rows_file.h"
#include "builder/train/trainer.h"
#include "tools/progress.h"
#include "tools/recording_rows.h"

namespace asr::tool {

struct TrainingRecording {
  std::string id;
  RecordingPart part;
  std::vector<std::string> text;  // as it is written; words of a dictionary after find_words()
};

struct TrainingRecordings {
  std::vector<TrainingRecording> recordings;
  std::vector<std::string> left_out;  // others, with reasons
};

// Reads what the command line names: folders of recordings with their texts beside them, data directories of Kaldi (wav.scp,
// text), tables (.csv, .tsv), and lists "path [id]". transcripts: a file of texts, "" where they have some of their
// own. utt2spk: lines "utterance speaker", or "". Throws if nothing can be trained on, or if two recordings have one id.
TrainingRecordings read_training_recordings(const std::vector<std::string> &data, const std::string &transcripts);

// Returns the sample rate of the first recording that can be read.
uint32_t sample_rate_of(const TrainingRecordings &recordings);

// Extracts the rows of all recordings. The utterances have the words of the recordings' texts. Recordings that cannot be read
// move to left_out.
std::vector<train::TrainingUtterance> extract(RecordingRows *reader, Progress *progress, TrainingRecordings *recordings,
                                              train::RowsFile *rows);

}  // namespace asr::tool
