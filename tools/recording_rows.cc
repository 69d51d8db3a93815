// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_rows.h"

#include "core/audio/comfort_noise.h"
#include "core/audio/resampler.h"
#include "core/audio/sample_format.h"
#include "core/base/error.h"
#include "tools/archive_features.h"
#include "tools/audio_file.h"

namespace asr::tool {
namespace {

constexpr size_t kChunkSamples = 16000;

}  // namespace

RecordingRows::RecordingRows(const Device &device, const FrontEnd &front_end, const std::string &cmn, uint32_t window_frames,
                             uint32_t raw_rate_hz)
    : device_(device),
      tables_(front_end, {1.0}),
      cmn_(cmn_of(cmn, front_end)),
      window_frames_(window_frames),
      raw_rate_hz_(raw_rate_hz) {
  features_ = device.load_features(*tables_.view());
}

RecordingRows::~RecordingRows() { device_.api()->free_features(features_); }

std::vector<float> RecordingRows::read(const std::string &path) {
  AudioFile audio(path, AudioOptions{"", raw_rate_hz_});
  const SampleFormat format{SampleType::kFloat, audio.rate_hz(), 1, -1};
  Resampler resampler(filters_.get(audio.rate_hz(), tables_.front_end().sample_rate_hz));
  ComfortNoise noise;
  FeaturePipeline pipeline(tables_, cmn_, tables_.warp_index(1));
  std::vector<float> samples(kChunkSamples), mono, resampled, rows;
  const auto add = [&] {
    noise.add(resampled.data(), resampled.size());
    pipeline.add_samples(resampled.data(), resampled.size());
    resampled.clear();
  };
  while (const size_t n = audio.read(samples.data(), kChunkSamples)) {
    if (!all_finite(samples.data(), n)) {
      fail(ASR_BAD_AUDIO, "%s: a sample is infinite or not a number; check how it was recorded", path.c_str());
    }
    mono.resize(n);
    to_mono(format, samples.data(), n, mono.data());
    resampler.feed(mono.data(), n, &resampled);
    add();
    extract(&pipeline, &rows);
  }
  if (audio.n_missing_bytes() > 0) {
    fail(ASR_BAD_AUDIO, "%s: is cut short: %llu bytes that its header tells of are missing; check how it was copied",
         path.c_str(), static_cast<unsigned long long>(audio.n_missing_bytes()));
  }
  if (audio.has_shrunk()) {
    fail(ASR_BAD_AUDIO, "%s: became shorter while it was read; train on it when it is complete", path.c_str());
  }
  resampler.finish(&resampled);
  add();
  pipeline.finish();
  extract(&pipeline, &rows);
  return rows;
}

void RecordingRows::extract(FeaturePipeline *pipeline, std::vector<float> *rows) const {
  asr_extract_job job{};
  const auto take = [&] {
    while (const size_t n = pipeline->ready_rows()) {
      rows->insert(rows->end(), pipeline->rows(), pipeline->rows() + n * pipeline->n_dims());
      pipeline->consume(n);
    }
  };
  while (pipeline->next_extract(&job, window_frames_)) {
    device_.check(device_.api()->extract(device_.get(), features_, &job, 1));
    pipeline->extracted();
    take();
  }
  take();
}

}  // namespace asr::tool
