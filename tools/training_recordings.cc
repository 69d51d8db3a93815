// SPDX-License-Identifier: Apache-2.0
#include "tools/training_recordings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "builder/text/unicode.h"
#include "core/base/error.h"
#include "tools/align_texts.h"
#include "tools/audio_file.h"
#include "tools/recording_list.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string &path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

// What one argument names.
struct Named {
  std::vector<Utterance> recordings;
  std::vector<RecordingPart> parts;  // of these, if they are parts
  Texts texts;
};

Named read_folder(const std::string &folder, const std::string &transcripts) {
  if (exists(folder + "/wav.scp")) {
    KaldiRecordings data = read_kaldi_data(folder);
    return {std::move(data.recordings), std::move(data.parts), Texts(transcripts.empty() ? folder + "/text" : transcripts)};
  }
  std::vector<std::string> passed_over;
  std::vector<Utterance> recordings = recordings_below(folder, &passed_over);
  for (const std::string &line : passed_over) print_line(stderr, "senone: warning: %s", line.c_str());
  return {std::move(recordings), {}, Texts(transcripts)};
}

Named read_named(const std::string &path, const std::string &transcripts) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return read_folder(path, transcripts);
  const std::string suffix = to_lower(fs::path(path).extension().string());
  if (suffix != ".csv" && suffix != ".tsv") return {read_recording_list(path), {}, Texts(transcripts)};
  RecordingTable table = read_recording_table(path);
  return {std::move(table.recordings), {}, Texts(path, std::move(table.texts))};
}

class Reader {
 public:
  void add(Named named) {
    for (const Utterance &utterance : named.recordings) {
      if (!ids_.insert(utterance.id).second) {
        fail(ASR_BAD_FILE, "%s: \"%s\" is the id of two recordings; give each one of its own, as in its text",
             utterance.path.c_str(), utterance.id.c_str());
      }
      try {
        if (!utterance.error.empty()) fail(ASR_BAD_FILE, "%s", utterance.error.c_str());
        const RecordingPart part = named.parts.empty() ? RecordingPart{utterance.path} : named.parts[utterance.number];
        found_.recordings.push_back({utterance.id, part, named.texts.of(utterance)});
      } catch (const Error &error) {
        if (error.code() == ASR_OUT_OF_MEMORY) throw;
        found_.left_out.push_back(utterance.id + ": " + error.what());
      }
    }
  }

  TrainingRecordings take() { return std::move(found_); }

 private:
  std::set<std::string> ids_;
  TrainingRecordings found_;
};

}  // namespace

TrainingRecordings read_training_recordings(const std::vector<std::string> &data, const std::string &transcripts) {
  Reader reader;
  for (const std::string &path : data) reader.add(read_named(path, transcripts));
  TrainingRecordings recordings = reader.take();
  if (!recordings.recordings.empty()) return recordings;
  if (recordings.left_out.empty()) fail(ASR_BAD_FILE, "%s: has no recordings; check what wrote it", data.front().c_str());
  fail(ASR_BAD_FILE, "%s: none of its %zu recordings can be trained on; the first, %s", data.front().c_str(),
       recordings.left_out.size(), recordings.left_out.front().c_str());
}

uint32_t sample_rate_of(const TrainingRecordings &recordings) {
  std::string first;
  for (const TrainingRecording &recording : recordings.recordings) {
    try {
      return AudioFile(recording.part.path, AudioOptions()).rate_hz();
    } catch (const Error &error) {
      if (first.empty()) first = error.what();
    }
  }
  fail(ASR_BAD_FILE, "none of the recordings can be read; the first, %s", first.c_str());
}

std::vector<train::TrainingUtterance> extract(RecordingRows *reader, Progress *progress, TrainingRecordings *recordings,
                                              train::RowsFile *rows) {
  std::vector<train::TrainingUtterance> utterances;
  std::vector<TrainingRecording> kept;
  const size_t n_all = recordings->recordings.size();
  for (size_t i = 0; i < n_all; ++i) {
    TrainingRecording &recording = recordings->recordings[i];
    progress->update(static_cast<double>(i) / static_cast<double>(n_all), "reading features");
    std::vector<float> of_recording;
    try {
      const auto next = reader->open(recording.part);
      while (next(&of_recording)) continue;
      const uint64_t n = of_recording.size() / rows->n_dims();
      const auto is_usable = [](float value) { return std::abs(value) <= train::kMaxFeature; };  // NaN is not
      if (!std::all_of(of_recording.begin(), of_recording.end(), is_usable)) fail(ASR_BAD_AUDIO, "a feature is not a number");
      if (n == 0 || n > UINT32_MAX) fail(ASR_BAD_AUDIO, "it has no frames; check that it is not empty");
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw;
      recordings->left_out.push_back(recording.id + ": " + error.what());
      continue;
    }
    const uint64_t n = of_recording.size() / rows->n_dims();
    utterances.push_back({recording.id, recording.text, rows->n_rows(), static_cast<uint32_t>(n)});
    rows->add(of_recording.data(), n);
    kept.push_back(std::move(recording));
  }
  recordings->recordings = std::move(kept);
  return utterances;
}

}  // namespace asr::tool
