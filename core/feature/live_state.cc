// SPDX-License-Identifier: Apache-2.0
// Converts LiveMeanState to bytes and back, for asr_stream_get_state and asr_stream_set_state.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/feature/live_mean.h"

namespace asr {
namespace {

struct Header {
  char magic[8];
  uint32_t version, n_ceps;
  uint64_t front_end;  // checksum of the settings that affect the cepstra
  double n_speech, n_silence, n_heard, peak, floor;
  uint64_t has_level;
};
// Followed by speech_sum, silence_sum, and the checksum of all preceding bytes.

constexpr char kMagic[8] = {'s', 'e', 'n', 's', 't', 'a', 't', 'e'};
constexpr uint32_t kVersion = 1;
constexpr double kMaxFrames = 1e9, kMaxValue = 1e12;

static_assert(sizeof(Header) + 2 * sizeof(double) * kMaxMel + sizeof(uint64_t) <= kMaxStateBytes);

// Models with the same cepstra share states, even if their later steps differ.
uint64_t cepstra_checksum(FrontEnd f) {
  const FrontEnd none;
  f.cmn = none.cmn;
  f.cmn_variance = none.cmn_variance;
  f.energy_range_db = none.energy_range_db;
  f.energy_scale = none.energy_scale;
  f.cmn_cepstra = none.cmn_cepstra;
  f.cmn_prior.clear();
  f.cmn_lookahead_frames = none.cmn_lookahead_frames;
  f.cmn_prior_frames = none.cmn_prior_frames;
  f.cmn_window_frames = none.cmn_window_frames;
  f.dynamic = none.dynamic;
  f.delta_order = none.delta_order;
  f.delta_window = none.delta_window;
  f.splice_left = none.splice_left;
  f.splice_right = none.splice_right;
  f.drop_absolute_energy = none.drop_absolute_energy;
  f.transform.clear();
  f.transform_rows = f.transform_cols = 0;
  const std::string json = front_end_to_json(f);
  return checksum(json.data(), json.size());
}

size_t bytes_of(uint32_t n_ceps) { return sizeof(Header) + 2 * sizeof(double) * n_ceps + sizeof(uint64_t); }

bool is_count(double value) { return value >= 0 && value <= kMaxFrames; }
bool is_value(double value) { return std::abs(value) <= kMaxValue; }

bool is_sound(const LiveMeanState &s) {
  return is_count(s.n_speech) && is_count(s.n_silence) && is_count(s.n_heard) && is_value(s.peak) && is_value(s.floor) &&
         std::all_of(s.speech_sum.begin(), s.speech_sum.end(), is_value) &&
         std::all_of(s.silence_sum.begin(), s.silence_sum.end(), is_value);
}

}  // namespace

std::string state_to_bytes(const LiveMeanState &state, const FrontEnd &front_end) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.n_ceps = front_end.n_ceps;
  header.front_end = cepstra_checksum(front_end);
  header.n_speech = state.n_speech, header.n_silence = state.n_silence, header.n_heard = state.n_heard;
  header.peak = state.peak, header.floor = state.floor;
  header.has_level = state.has_level;
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  for (const std::vector<double> *sum : {&state.speech_sum, &state.silence_sum}) {
    bytes.append(reinterpret_cast<const char *>(sum->data()), sum->size() * sizeof(double));
  }
  const uint64_t end = checksum(bytes.data(), bytes.size());
  return bytes.append(reinterpret_cast<const char *>(&end), sizeof(end));
}

LiveMeanState state_from_bytes(const void *bytes, size_t size, const FrontEnd &front_end, const char *who) {
  const char *at = static_cast<const char *>(bytes);
  Header header{};
  const auto take = [&](void *to, size_t n) {
    std::memcpy(to, at, n);
    at += n;
  };
  if (size < sizeof(header) || std::memcmp(bytes, kMagic, sizeof(kMagic)) != 0) {
    fail(ASR_INVALID_ARGUMENT, "%s: the bytes are no state; pass what asr_stream_get_state gave", who);
  }
  take(&header, sizeof(header));
  if (header.version != kVersion) {
    fail(ASR_UNSUPPORTED, "%s: the state has version %u, this library knows %u; begin without one", who, header.version,
         kVersion);
  }
  if (header.n_ceps != front_end.n_ceps || header.front_end != cepstra_checksum(front_end)) {
    fail(ASR_INVALID_ARGUMENT, "%s: the state is of a model with another front end; begin without one", who);
  }
  LiveMeanState state;
  state.n_speech = header.n_speech, state.n_silence = header.n_silence, state.n_heard = header.n_heard;
  state.peak = header.peak, state.floor = header.floor;
  state.has_level = header.has_level != 0;
  uint64_t end = 0;
  if (size == bytes_of(header.n_ceps)) {
    for (std::vector<double> *sum : {&state.speech_sum, &state.silence_sum}) {
      sum->resize(header.n_ceps);
      take(sum->data(), sum->size() * sizeof(double));
    }
    take(&end, sizeof(end));
  }
  if (size != bytes_of(header.n_ceps) || end != checksum(bytes, size - sizeof(end)) || !is_sound(state)) {
    fail(ASR_INVALID_ARGUMENT, "%s: the state is damaged; keep all bytes that asr_stream_get_state gave", who);
  }
  return state;
}

}  // namespace asr
