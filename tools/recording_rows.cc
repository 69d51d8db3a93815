// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_rows.h"

#include "core/base/error.h"
#include "tools/archive_features.h"
#include "tools/audio_file.h"

namespace asr::tool {
namespace {

constexpr size_t kChunkSamples = 16000;

}  // namespace

class RecordingRows::Reading {
 public:
  Reading(RecordingRows *owner, const std::string &path)
      : path_(path),
        audio_(path, AudioOptions{"", owner->raw_rate_hz_}),
        rows_(owner->maker_, owner->cmn_, SampleFormat{SampleType::kFloat, audio_.rate_hz(), 1, -1},
              owner->filters_.get(audio_.rate_hz(), owner->tables_.front_end().sample_rate_hz)),
        samples_(kChunkSamples) {}

  bool next(std::vector<float> *rows) {
    if (is_done_) return false;
    if (const size_t n = audio_.read(samples_.data(), kChunkSamples)) {
      try {
        rows_.add(samples_.data(), n, rows);
      } catch (const Error &error) {
        if (error.code() != ASR_BAD_AUDIO) throw;
        fail(ASR_BAD_AUDIO, "%s: %s", path_.c_str(), error.what());
      }
      return true;
    }
    if (audio_.n_missing_bytes() > 0) {
      fail(ASR_BAD_AUDIO, "%s: is cut short: %llu bytes that its header tells of are missing; check how it was copied",
           path_.c_str(), static_cast<unsigned long long>(audio_.n_missing_bytes()));
    }
    if (audio_.has_shrunk()) {
      fail(ASR_BAD_AUDIO, "%s: became shorter while it was read; use it when it is complete", path_.c_str());
    }
    is_done_ = !rows_.finish(rows);
    return true;
  }

 private:
  const std::string path_;
  AudioFile audio_;
  train::SampleRows rows_;
  std::vector<float> samples_;
  bool is_done_ = false;
};

RecordingRows::RecordingRows(const Device &device, const FrontEnd &front_end, const std::string &cmn, uint32_t window_frames,
                             uint32_t raw_rate_hz)
    : tables_(front_end, {1.0}),
      cmn_(cmn_of(cmn, front_end)),
      raw_rate_hz_(raw_rate_hz),
      maker_(device, tables_, window_frames) {}

std::vector<float> RecordingRows::read(const std::string &path) {
  std::vector<float> rows;
  Reading reading(this, path);
  while (reading.next(&rows)) continue;
  return rows;
}

std::function<bool(std::vector<float> *rows)> RecordingRows::open(const std::string &path) {
  const auto reading = std::make_shared<Reading>(this, path);
  return [reading](std::vector<float> *rows) { return reading->next(rows); };
}

}  // namespace asr::tool
