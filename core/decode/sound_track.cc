// SPDX-License-Identifier: Apache-2.0
#include "core/decode/sound_track.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr size_t kSmooth = 2;      // energies are averaged over this many frames on either side
constexpr size_t kFewFrames = 10;  // fewer frames give no variation

// Returns a band's level around a frame.
double level_db(const std::vector<BandFrame> &frames, size_t frame, size_t band) {
  const size_t begin = frame - std::min(frame, kSmooth), end = std::min(frames.size(), frame + kSmooth + 1);
  double energy = 0;
  for (size_t f = begin; f < end; ++f) energy += static_cast<double>(frames[f][band]);
  return band_level_db(energy / static_cast<double>(end - begin));
}

}  // namespace

std::optional<double> Sound::variation_db(size_t begin, size_t end) const {
  end = std::min(end, frames.size());
  if (n_bands == 0 || begin + kFewFrames > end) return std::nullopt;
  BandEnergies::Bands sums{}, squares{};
  for (size_t f = begin; f < end; ++f) {
    BandEnergies::Bands levels{};
    double mean = 0;
    for (size_t b = 0; b < n_bands; ++b) {
      levels[b] = level_db(frames, f, b);
      mean += levels[b] / static_cast<double>(n_bands);
    }
    for (size_t b = 0; b < n_bands; ++b) {
      sums[b] += levels[b] - mean;
      squares[b] += (levels[b] - mean) * (levels[b] - mean);
    }
  }
  const auto n = static_cast<double>(end - begin);
  double variation = 0;
  for (size_t b = 0; b < n_bands; ++b) variation += std::sqrt(std::max(0.0, squares[b] / n - sums[b] * sums[b] / (n * n)));
  return variation / static_cast<double>(n_bands);
}

SoundTrack::SoundTrack(double sample_rate_hz, uint32_t shift_samples, uint64_t first_frame)
    : energies_(sample_rate_hz, shift_samples), shift_samples_(shift_samples), first_frame_(first_frame) {}

void SoundTrack::add(const float *samples, size_t n) {
  rest_.insert(rest_.end(), samples, samples + n);
  size_t at = 0;
  for (; at + shift_samples_ <= rest_.size(); at += shift_samples_) {
    const BandEnergies::Bands energies = energies_.next(rest_.data() + at);
    BandFrame frame;
    std::transform(energies.begin(), energies.end(), frame.begin(), [](double energy) { return static_cast<float>(energy); });
    frames_.push_back(frame);
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<ptrdiff_t>(at));
}

void SoundTrack::forget_before(uint64_t frame) {
  for (; first_frame_ < frame && !frames_.empty(); ++first_frame_) frames_.pop_front();
}

Sound SoundTrack::sound(uint64_t begin, uint64_t end) const {
  Sound sound;
  sound.n_bands = energies_.n_bands();
  begin = std::max(begin, first_frame_);
  end = std::min<uint64_t>(end, first_frame_ + frames_.size());
  for (uint64_t f = begin; f < end; ++f) sound.frames.push_back(frames_[f - first_frame_]);
  return sound;
}

}  // namespace asr
