// SPDX-License-Identifier: Apache-2.0
#include "tools/live_audio.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "tools/audio_file.h"

namespace asr::tool {
namespace {

constexpr int kWait_ms = 50, kForEver_ms = -1;
constexpr size_t kReadBytes = 1 << 16;
constexpr size_t kMostChunkBytes = 1 << 20;  // chunks of a WAV file before its samples
constexpr uint32_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

uint32_t little_endian(const std::string &bytes, size_t at, size_t n) {
  uint32_t value = 0;
  for (size_t i = 0; i < n; ++i) value |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  return value;
}

}  // namespace

LiveAudio::LiveAudio(uint32_t raw_rate_hz) {
  if (!read_to(1)) fail(ASR_BAD_FILE, "-: standard input is empty; pipe a recording into the command");
  if (!read_to(12) || !has_audio_header(bytes_)) {
    rate_hz_ = raw_rate_hz;
    sample_bytes_ = sizeof(int16_t);
    is_live_ = true;
  } else if (bytes_.compare(0, 4, "RIFF") == 0 && bytes_.compare(8, 4, "WAVE") == 0) {
    read_wav_header();
  }
}

// Returns true if more was read or the end was reached within the time.
bool LiveAudio::read_more(int timeout_ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int n_ready = poll(&input, 1, timeout_ms);
  if (n_ready == 0 || (n_ready < 0 && errno == EINTR)) return false;
  const size_t n_before = bytes_.size();
  bytes_.resize(n_before + kReadBytes);
  const ssize_t n = ::read(STDIN_FILENO, &bytes_[n_before], kReadBytes);
  bytes_.resize(n_before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (n < 0) fail(ASR_IO, "-: standard input cannot be read: %s", strerror(errno));
  has_ended_ = n == 0;
  return true;
}

// Reads until n_bytes bytes are available; false at the end of the input.
bool LiveAudio::read_to(size_t n_bytes) {
  while (bytes_.size() < n_bytes && !has_ended_) read_more(kForEver_ms);
  return bytes_.size() >= n_bytes;
}

// Reads up to the samples. Leaves bytes_ unchanged and the format unknown if libsndfile has to read the file.
void LiveAudio::read_wav_header() {
  size_t at = 12;
  while (read_to(at + 8)) {
    const std::string id = bytes_.substr(at, 4);
    const uint32_t size = little_endian(bytes_, at + 4, 4);
    if (id == "data") {
      if (rate_hz_ == 0) return;
      bytes_.erase(0, at + 8);
      if (size != 0 && size < 0x7ffff000) n_left_ = size;  // a program that writes to a pipe does not know the size
      const uint64_t n_here = std::min<uint64_t>(bytes_.size(), n_left_);
      bytes_.resize(n_here);
      if (n_left_ != UINT64_MAX) n_left_ -= n_here;
      is_live_ = true;
      return;
    }
    if (size > kMostChunkBytes || !read_to(at + 8 + size)) return;
    if (id == "fmt ") take_format(bytes_.substr(at + 8, size));
    at += 8 + size + size % 2;
  }
}

void LiveAudio::take_format(const std::string &chunk) {
  if (chunk.size() < 16) return;
  uint32_t kind = little_endian(chunk, 0, 2);
  if (kind == kExtensible && chunk.size() >= 26) kind = little_endian(chunk, 24, 2);
  const uint32_t n_channels = little_endian(chunk, 2, 2), rate_hz = little_endian(chunk, 4, 4);
  const uint32_t n_bits = little_endian(chunk, 14, 2);
  const bool is_known = (kind == kPcm && (n_bits == 16 || n_bits == 24 || n_bits == 32)) || (kind == kFloat && n_bits == 32);
  if (!is_known || n_channels == 0 || n_channels > kMostChannels || rate_hz == 0) return;
  rate_hz_ = rate_hz;
  n_channels_ = n_channels;
  sample_bytes_ = n_bits / 8;
  is_float_ = kind == kFloat;
}

float LiveAudio::value_at(size_t byte) const {
  const uint32_t bits = little_endian(bytes_, byte, sample_bytes_) << 8 * (4 - sample_bytes_);
  if (is_float_) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
  return static_cast<float>(static_cast<double>(static_cast<int32_t>(bits)) / 2147483648.0);
}

size_t LiveAudio::read(float *samples, size_t n) {
  const size_t frame_bytes = size_t{sample_bytes_} * n_channels_;
  if (bytes_.size() < frame_bytes && !has_ended_) {
    const size_t n_before = bytes_.size();
    if (n_left_ == 0) {
      has_ended_ = true;
    } else if (read_more(kWait_ms)) {
      const uint64_t n_new = std::min<uint64_t>(bytes_.size() - n_before, n_left_);
      bytes_.resize(n_before + n_new);
      if (n_left_ != UINT64_MAX) n_left_ -= n_new;
    }
  }
  const size_t n_frames = std::min(n, bytes_.size() / frame_bytes);
  for (size_t i = 0; i < n_frames * n_channels_; ++i) samples[i] = value_at(i * sample_bytes_);
  bytes_.erase(0, n_frames * frame_bytes);
  return n_frames;
}

}  // namespace asr::tool
