// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_rows.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "tools/archive_features.h"
#include "tools/audio_file.h"

namespace asr::tool {
namespace {

constexpr size_t kChunkSamples = 16000;
// Times of parts are rounded, and may be later than the end of the recording by this.
constexpr double kMaxOvershoot_s = 0.5;

uint64_t samples_in(double s, uint32_t rate_hz) {
  constexpr double kMaxSamples = 9e18;
  return static_cast<uint64_t>(std::llround(std::min(s * rate_hz, kMaxSamples)));
}

}  // namespace

class RecordingRows::Reading {
 public:
  Reading(RecordingRows *owner, const RecordingPart &part)
      : part_(part),
        audio_(part.path, AudioOptions{"", owner->raw_rate_hz_}),
        rows_(owner->maker_, owner->cmn_, SampleFormat{SampleType::kFloat, audio_.rate_hz(), 1, -1},
              owner->filters_.get(audio_.rate_hz(), owner->tables_.front_end().sample_rate_hz)),
        begin_(samples_in(part.begin_s, audio_.rate_hz())),
        end_(samples_in(part.end_s, audio_.rate_hz())),
        samples_(kChunkSamples) {}

  bool next(std::vector<float> *rows) {
    if (is_done_) return false;
    while (at_ < begin_ && read(begin_ - at_) > 0) continue;
    if (const size_t n = read(end_ - at_)) {
      try {
        rows_.add(samples_.data(), n, rows);
      } catch (const Error &error) {
        if (error.code() != ASR_BAD_AUDIO) throw;
        fail(ASR_BAD_AUDIO, "%s: %s", part_.path.c_str(), error.what());
      }
      return true;
    }
    if (at_ < end_) check_end();
    is_done_ = !rows_.finish(rows);
    return true;
  }

 private:
  const RecordingPart part_;
  AudioFile audio_;
  train::SampleRows rows_;
  const uint64_t begin_, end_;  // samples of the part
  uint64_t at_ = 0;
  std::vector<float> samples_;
  bool is_done_ = false;

  size_t read(uint64_t n_wanted) {
    if (n_wanted == 0) return 0;
    const size_t n = audio_.read(samples_.data(), static_cast<size_t>(std::min<uint64_t>(n_wanted, kChunkSamples)));
    at_ += n;
    return n;
  }

  // Refuses a recording that is not complete, or that ends before the part.
  void check_end() const {
    if (!audio_.what_is_missing().empty()) {
      fail(ASR_BAD_AUDIO, "%s: %s", part_.path.c_str(), audio_.what_is_missing().c_str());
    }
    if (audio_.has_shrunk()) {
      fail(ASR_BAD_AUDIO, "%s: became shorter while it was read; use it when it is complete", part_.path.c_str());
    }
    const double end_s = static_cast<double>(at_) / audio_.rate_hz();
    const bool is_whole = part_.begin_s == 0 && std::isinf(part_.end_s);
    if (is_whole || (at_ > begin_ && (std::isinf(part_.end_s) || part_.end_s <= end_s + kMaxOvershoot_s))) return;
    fail(ASR_BAD_FILE, "%s: ends at %.2f s, before the end of the part from %.2f s on; check the times", part_.path.c_str(),
         end_s, part_.begin_s);
  }
};

RecordingRows::RecordingRows(const Device &device, const FrontEnd &front_end, const std::string &cmn, uint32_t window_frames,
                             uint32_t raw_rate_hz)
    : tables_(front_end, {1.0}),
      cmn_(cmn_of(cmn, front_end)),
      raw_rate_hz_(raw_rate_hz),
      maker_(device, tables_, window_frames) {}

std::vector<float> RecordingRows::read(const std::string &path) {
  std::vector<float> rows;
  Reading reading(this, RecordingPart{path});
  while (reading.next(&rows)) continue;
  return rows;
}

std::function<bool(std::vector<float> *rows)> RecordingRows::open(const RecordingPart &part) {
  const auto reading = std::make_shared<Reading>(this, part);
  return [reading](std::vector<float> *rows) { return reading->next(rows); };
}

}  // namespace asr::tool
