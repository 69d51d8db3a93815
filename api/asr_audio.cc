// SPDX-License-Identifier: Apache-2.0
// The functions of asr.h for recordings, over core/audio/audio_decoder.h.
#include "api/fill.h"
#include "api/guard.h"
#include "asr.h"
#include "core/audio/audio_decoder.h"

using asr::api::check_range;
using asr::api::fill;
using asr::api::guard;
using asr::api::require;

struct asr_audio {
  explicit asr_audio(const asr::AudioInput &input) : decoder(input) {}

  asr::AudioDecoder decoder;
  std::string warning;  // the one that was returned last
  bool is_finished = false;
};

namespace {

asr::AudioInput read_config(const asr_audio_config *config) {
  const asr_audio_config c = asr::api::resized(config, asr_audio_config_default, "asr_audio_config");
  const int format = asr::api::number(c.format);
  check_range<int>(format, ASR_AUDIO_FILE, ASR_AUDIO_ALAW, "asr_audio_config.format");
  check_range(c.sample_rate_hz, asr::kMinSampleRateHz, asr::kMaxSampleRateHz, "asr_audio_config.sample_rate_hz");
  check_range(c.n_channels, 1u, asr::kMaxChannels, "asr_audio_config.n_channels");
  check_range(c.channel, ASR_AUDIO_ALL, static_cast<int32_t>(asr::kMaxChannels) - 1, "asr_audio_config.channel");
  asr::AudioInput input;
  using Header = asr::AudioInput::Header;
  input.header = format == ASR_AUDIO_FILE            ? Header::kRequired
                 : format == ASR_AUDIO_FILE_OR_S16LE ? Header::kOptional
                                                     : Header::kNone;
  if (format == ASR_AUDIO_S16BE) input.code.is_big_endian = true;
  if (format == ASR_AUDIO_F32LE) input.code = {asr::Encoding::kFloat, 4, false};
  if (format == ASR_AUDIO_ULAW) input.code = {asr::Encoding::kUlaw, 1, false};
  if (format == ASR_AUDIO_ALAW) input.code = {asr::Encoding::kAlaw, 1, false};
  input.rate_hz = c.sample_rate_hz;
  input.n_channels = c.n_channels;
  input.channel = c.channel;
  return input;
}

}  // namespace

void asr_audio_config_default(asr_audio_config *config) {
  if (config == nullptr) return;
  *config = {};
  config->size = sizeof(*config);
  config->format = ASR_AUDIO_FILE;
  config->sample_rate_hz = 16000;
  config->n_channels = 1;
  config->channel = ASR_AUDIO_MIX;
}

asr_status asr_audio_open(const asr_audio_config *config, asr_audio **audio) {
  return guard([&] {
    require(audio, "asr_audio_open", "audio");
    *audio = new asr_audio(read_config(config));
  });
}

asr_status asr_audio_push(asr_audio *audio, const void *bytes, size_t n_bytes) {
  return guard([&] {
    require(audio, "asr_audio_push", "audio");
    if (n_bytes > 0) require(bytes, "asr_audio_push", "bytes");
    check_range<size_t>(n_bytes, 0, SIZE_MAX / 16, "asr_audio_push: n_bytes");
    if (audio->is_finished) asr::fail(ASR_INVALID_STATE, "asr_audio_push: the input was finished; open another decoder");
    audio->decoder.push(bytes, n_bytes);
  });
}

asr_status asr_audio_finish(asr_audio *audio) {
  return guard([&] {
    require(audio, "asr_audio_finish", "audio");
    audio->is_finished = true;
    audio->decoder.finish();
  });
}

asr_status asr_audio_read(asr_audio *audio, float *samples, size_t n, size_t *n_read) {
  return guard([&] {
    require(audio, "asr_audio_read", "audio");
    if (n > 0) require(samples, "asr_audio_read", "samples");
    require(n_read, "asr_audio_read", "n_read");
    *n_read = audio->decoder.read(samples, n);
  });
}

asr_status asr_audio_get_info(const asr_audio *audio, asr_audio_info *info) {
  return guard([&] {
    require(audio, "asr_audio_get_info", "audio");
    require(info, "asr_audio_get_info", "info");
    const asr::AudioDecoder &decoder = audio->decoder;
    asr_audio_info found{};
    found.format_name = decoder.kind() != nullptr ? decoder.kind()->name : "";
    found.is_known = decoder.is_known();
    found.has_header = decoder.has_header();
    found.sample_rate_hz = decoder.rate_hz();
    found.n_channels = decoder.n_channels();
    found.n_out_channels = decoder.n_out_channels();
    found.n_bits = decoder.is_known() ? 8 * decoder.code().n_bytes : 0;
    found.is_float = decoder.is_known() && decoder.code().encoding == asr::Encoding::kFloat;
    found.is_other = decoder.is_for_sndfile();
    found.n_missing_bytes = decoder.n_missing_bytes();
    fill(info, found, "asr_audio_info.size");
  });
}

const char *asr_audio_warning(asr_audio *audio) {
  const asr::api::Uncancelled uncancelled;
  return audio != nullptr && audio->decoder.next_warning(&audio->warning) ? audio->warning.c_str() : nullptr;
}

void asr_audio_close(asr_audio *audio) {
  const asr::api::Uncancelled uncancelled;
  delete audio;
}
