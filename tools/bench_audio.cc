// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_audio.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "core/base/error.h"
#include "tools/audio_file.h"

namespace asr::tool {
namespace {

std::vector<float> read_samples(AudioFile *file) {
  std::vector<float> samples;
  float block[4096];
  while (const size_t n = file->read(block, std::size(block))) samples.insert(samples.end(), block, block + n);
  return samples;
}

// Returns the root of the mean square of the quietest tenth of frames of 25 ms.
double quiet_level(const std::vector<float> &samples, uint32_t rate_hz) {
  const size_t n_frame = rate_hz / 40;
  std::vector<double> powers;
  for (size_t begin = 0; begin + n_frame <= samples.size(); begin += n_frame) {
    double sum = 0;
    for (size_t i = begin; i < begin + n_frame; ++i) sum += double{samples[i]} * double{samples[i]};
    powers.push_back(sum / static_cast<double>(n_frame));
  }
  if (powers.empty()) return 0;
  const auto tenth = powers.begin() + static_cast<std::ptrdiff_t>(powers.size() / 10);
  std::nth_element(powers.begin(), tenth, powers.end());
  return std::sqrt(*tenth);
}

void add_pause(double level, std::mt19937 *random, BenchAudio *audio) {
  const auto uniform = [&] { return static_cast<double>((*random)()) / 4294967296.0; };
  const auto n = static_cast<size_t>((0.5 + 2.5 * uniform()) * audio->rate_hz);
  for (size_t i = 0; i < n; ++i) {
    const double noise = (uniform() + uniform() + uniform() + uniform() - 2) * std::sqrt(3.0);  // variance 1
    audio->samples.push_back(static_cast<float>(level * noise));
  }
}

}  // namespace

const float *BenchAudio::play(size_t n, size_t *at, std::vector<float> *room) const {
  const size_t begin = *at;
  *at = (begin + n) % samples.size();
  if (begin + n <= samples.size()) return samples.data() + begin;
  room->resize(n);
  for (size_t i = 0; i < n; ++i) (*room)[i] = samples[(begin + i) % samples.size()];
  return room->data();
}

BenchAudio read_bench_audio(const std::vector<std::string> &files, bool with_pauses) {
  BenchAudio audio;
  std::mt19937 random;
  size_t n_recorded = 0;
  for (const std::string &path : files) {
    AudioFile file(path, AudioOptions());
    if (file.n_channels() != 1)
      fail(ASR_UNSUPPORTED, "%s: has %u channels; give mono recordings", path.c_str(), file.n_channels());
    if (audio.rate_hz != 0 && audio.rate_hz != file.rate_hz()) {
      fail(ASR_UNSUPPORTED, "%s: has %u Hz and those before it %u; give recordings of one rate", path.c_str(), file.rate_hz(),
           audio.rate_hz);
    }
    audio.rate_hz = file.rate_hz();
    const std::vector<float> samples = read_samples(&file);
    n_recorded += samples.size();
    if (with_pauses) add_pause(quiet_level(samples, audio.rate_hz), &random, &audio);
    audio.samples.insert(audio.samples.end(), samples.begin(), samples.end());
  }
  if (n_recorded < audio.rate_hz) {
    fail(ASR_BAD_AUDIO, "%s: the recordings have %.2f s of audio together, which is too little; give 1 s or more",
         files.front().c_str(), static_cast<double>(n_recorded) / audio.rate_hz);
  }
  return audio;
}

void feed_as_spoken(size_t n_sources, double chunk_s, const std::function<bool(size_t)> &feed) {
  std::vector<bool> speaking(n_sources, true);
  size_t n_speaking = n_sources;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t step = 0; n_speaking > 0; ++step) {
    for (size_t i = 0; i < n_sources; ++i) {
      const double due_s = chunk_s * (static_cast<double>(step + 1) + static_cast<double>(i) / static_cast<double>(n_sources));
      std::this_thread::sleep_until(begin +
                                    std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(due_s)));
      if (!speaking[i] || feed(i)) continue;
      speaking[i] = false;
      --n_speaking;
    }
  }
}

nlohmann::json quantile_ms(std::vector<double> seconds, double share) {
  if (seconds.empty()) return nullptr;
  std::sort(seconds.begin(), seconds.end());
  return 1e3 * seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))];
}

}  // namespace asr::tool
