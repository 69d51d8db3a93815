// SPDX-License-Identifier: Apache-2.0
// Common code of the tests of speakers: handles that free themselves, transforms and warps.
#pragma once

#include <memory>
#include <vector>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {

using SpeakerPointer = std::unique_ptr<asr_speaker, void (*)(asr_speaker *)>;

inline SpeakerPointer new_speaker(asr_engine *engine) {
  asr_speaker *speaker = nullptr;
  EXPECT_OK(asr_speaker_new(engine, &speaker));
  return {speaker, asr_speaker_free};
}

inline asr_stream_config of(const SpeakerPointer &speaker) {
  asr_stream_config config = default_stream();
  config.speaker = speaker.get();
  return config;
}

inline std::vector<float> transform_of(const SpeakerPointer &speaker) {
  size_t n = 0;
  EXPECT_OK(asr_speaker_get_transform(speaker.get(), nullptr, 0, &n));
  std::vector<float> values(n);
  EXPECT_OK(asr_speaker_get_transform(speaker.get(), values.data(), n, &n));
  return values;
}

inline uint32_t n_dims_of(asr_engine *engine) {
  asr_engine_info info;
  info.size = sizeof(info);
  EXPECT_OK(asr_engine_get_info(engine, &info));
  return info.n_feature_dims;
}

// Returns a transform with `scale` on the diagonal that adds `offset` to each value.
inline std::vector<float> transform(uint32_t n_dims, float scale, float offset) {
  std::vector<float> values;
  for (uint32_t r = 0; r < n_dims; ++r) {
    for (uint32_t c = 0; c < n_dims; ++c) values.push_back(r == c ? scale : 0);
    values.push_back(offset);
  }
  return values;
}

inline void set(const SpeakerPointer &speaker, const std::vector<float> &values) {
  ASSERT_OK(asr_speaker_set_transform(speaker.get(), values.data(), values.size()));
}

inline float warp_of(const SpeakerPointer &speaker) {
  float warp = 0;
  EXPECT_OK(asr_speaker_get_warp(speaker.get(), &warp));
  return warp;
}

// Feeds words with all frequencies times `factor` to streams of the speaker, as adaptation data.
inline void say_shifted(asr_engine *engine, const SpeakerPointer &speaker, double factor, float lattice_beam = 0) {
  asr_stream_config config = of(speaker);
  config.sample_rate_hz = static_cast<uint32_t>(16000 * factor);
  config.lattice_beam = lattice_beam;
  for (const char *const words : {"low mid high low mid", "high high mid low", "mid low low high low"}) {
    (void)recognize(engine, config, speak(words), 1600);
  }
}

}  // namespace asr::test
