// SPDX-License-Identifier: Apache-2.0
// Converts a MeanState to bytes and back, for asr_stream_get_state and asr_stream_set_state.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/feature/mean_state.h"

namespace asr {
namespace {

constexpr size_t kMagicBytes = 8;

struct Header {
  char magic[kMagicBytes];  // that of the kind
  uint32_t version, n_ceps;
  uint64_t front_end;  // checksum of the settings that affect the cepstra
};
// Followed by the kind's scalars, its two vectors [n_ceps], and the checksum of all preceding bytes.

struct LiveScalars {
  double n_speech, n_silence, n_heard, peak, floor;
  uint64_t has_level;
};
constexpr char kLiveMagic[] = "senstate";

struct WholeScalars {
  double highest;
  uint64_t n_passes;
};
constexpr char kWholeMagic[] = "senwhole";

constexpr uint32_t kVersion = 1;
constexpr double kMaxFrames = 1e9, kMaxValue = 1e12;

static_assert(sizeof(Header) + sizeof(LiveScalars) + 2 * sizeof(double) * kMaxMel + sizeof(uint64_t) <= kMaxStateBytes);

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

bool is_count(double value) { return value >= 0 && value <= kMaxFrames; }
bool is_value(double value) { return std::abs(value) <= kMaxValue; }
bool are_values(const std::vector<double> &values) { return std::all_of(values.begin(), values.end(), is_value); }

bool is_sound(const LiveMeanState &s) {
  return is_count(s.n_speech) && is_count(s.n_silence) && is_count(s.n_heard) && is_value(s.peak) && is_value(s.floor) &&
         are_values(s.speech_sum) && are_values(s.silence_sum);
}

bool is_sound(const WholeMeanState &s) { return is_value(s.highest) && are_values(s.mean) && are_values(s.scale); }

template <typename Scalars>
std::string to_bytes(const char *magic, const Scalars &scalars, const std::vector<double> &first,
                     const std::vector<double> &second, const FrontEnd &front_end) {
  Header header{};
  std::memcpy(header.magic, magic, kMagicBytes);
  header.version = kVersion;
  header.n_ceps = front_end.n_ceps;
  header.front_end = cepstra_checksum(front_end);
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char *>(&scalars), sizeof(scalars));
  for (const std::vector<double> *vector : {&first, &second}) {
    bytes.append(reinterpret_cast<const char *>(vector->data()), vector->size() * sizeof(double));
  }
  const uint64_t end = checksum(bytes.data(), bytes.size());
  return bytes.append(reinterpret_cast<const char *>(&end), sizeof(end));
}

// Reads what follows the header. Returns false if the bytes are damaged.
template <typename Scalars>
bool from_bytes(const char *bytes, size_t size, uint32_t n_ceps, Scalars *scalars, std::vector<double> *first,
                std::vector<double> *second) {
  const size_t n_bytes = n_ceps * sizeof(double);
  uint64_t end = 0;
  if (size != sizeof(Header) + sizeof(Scalars) + 2 * n_bytes + sizeof(end)) return false;
  std::memcpy(&end, bytes + size - sizeof(end), sizeof(end));
  if (end != checksum(bytes, size - sizeof(end))) return false;
  const char *at = bytes + sizeof(Header);
  std::memcpy(scalars, at, sizeof(Scalars));
  at += sizeof(Scalars);
  for (std::vector<double> *vector : {first, second}) {
    vector->resize(n_ceps);
    std::memcpy(vector->data(), at, n_bytes);
    at += n_bytes;
  }
  return true;
}

bool has_magic(const void *bytes, const char *magic) { return std::memcmp(bytes, magic, kMagicBytes) == 0; }

}  // namespace

std::string state_to_bytes(const MeanState &state, const FrontEnd &front_end) {
  if (const auto *live = std::get_if<LiveMeanState>(&state)) {
    const LiveScalars scalars{live->n_speech, live->n_silence, live->n_heard, live->peak, live->floor, live->has_level};
    return to_bytes(kLiveMagic, scalars, live->speech_sum, live->silence_sum, front_end);
  }
  const auto &whole = std::get<WholeMeanState>(state);
  return to_bytes(kWholeMagic, WholeScalars{whole.highest, whole.n_passes}, whole.mean, whole.scale, front_end);
}

MeanState state_from_bytes(const void *bytes, size_t size, const FrontEnd &front_end, const char *who) {
  Header header{};
  if (size < sizeof(header) || !(has_magic(bytes, kLiveMagic) || has_magic(bytes, kWholeMagic))) {
    fail(ASR_INVALID_ARGUMENT, "%s: the bytes are no state; pass what asr_stream_get_state gave", who);
  }
  std::memcpy(&header, bytes, sizeof(header));
  if (header.version != kVersion) {
    fail(ASR_UNSUPPORTED, "%s: the state has version %u, this library knows %u; begin without one", who, header.version,
         kVersion);
  }
  if (header.n_ceps != front_end.n_ceps || header.front_end != cepstra_checksum(front_end)) {
    fail(ASR_INVALID_ARGUMENT, "%s: the state is of a model with another front end; begin without one", who);
  }
  const char *const at = static_cast<const char *>(bytes);
  if (has_magic(bytes, kLiveMagic)) {
    LiveMeanState state;
    LiveScalars s{};
    if (from_bytes(at, size, header.n_ceps, &s, &state.speech_sum, &state.silence_sum)) {
      state.n_speech = s.n_speech, state.n_silence = s.n_silence, state.n_heard = s.n_heard;
      state.peak = s.peak, state.floor = s.floor, state.has_level = s.has_level != 0;
      if (is_sound(state)) return state;
    }
  } else {
    WholeMeanState state;
    WholeScalars s{};
    if (from_bytes(at, size, header.n_ceps, &s, &state.mean, &state.scale) && s.n_passes <= WholeMean::n_passes(front_end)) {
      state.highest = s.highest, state.n_passes = static_cast<uint32_t>(s.n_passes);
      if (is_sound(state)) return state;
    }
  }
  fail(ASR_INVALID_ARGUMENT, "%s: the state is damaged; keep all bytes that asr_stream_get_state gave", who);
}

}  // namespace asr
