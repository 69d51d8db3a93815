// SPDX-License-Identifier: Apache-2.0
// Audio and pace of the benchmarks that feed streams as a product does: `senone bench stream` and `senone bench endpoint`.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace asr::tool {

// Recordings one after the other, mono, full scale -1..1.
struct BenchAudio {
  uint32_t rate_hz = 0;
  std::vector<float> samples;

  // Returns the n samples from *at on, around the end of the audio, and moves *at behind them. They lie in the audio or, if
  // they go around its end, in *room.
  const float *play(size_t n, size_t *at, std::vector<float> *room) const;
};

// Reads mono recordings of one rate, together 1 s at least. With pauses, white noise precedes each recording: 0.5 to 3 s long,
// at the level of the recording's quietest tenth of frames. Equal recordings give equal audio.
BenchAudio read_bench_audio(const std::vector<std::string> &files, bool with_pauses = false);

// Calls feed(i) for each of n sources once per chunk duration until it returns false. The sources are spread evenly over that
// time.
void feed_as_spoken(size_t n_sources, double chunk_s, const std::function<bool(size_t)> &feed);

// Returns a quantile of the values in milliseconds; null without values.
nlohmann::json quantile_ms(std::vector<double> seconds, double share);

}  // namespace asr::tool
