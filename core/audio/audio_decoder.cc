// SPDX-License-Identifier: Apache-2.0
#include "core/audio/audio_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/audio/g711.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr uint32_t kPcm = 1, kFloat = 3, kAlaw = 6, kUlaw = 7, kExtensible = 0xfffe;  // codecs of WAV
constexpr size_t kRiffBytes = 12;                                                     // "RIFF", its size, "WAVE"
constexpr size_t kFormatBytes = 40;                                                   // what "fmt " chunks tell us
constexpr size_t kMaxAuHeaderBytes = 1 << 20;

using ull = unsigned long long;

// A program that writes to a pipe does not know the length, and writes one of these: 0 (GStreamer), about 2^31 (sox, arecord),
// 2^32 - 1 (ffmpeg), or that less a header.
bool is_unknown(uint32_t size) { return size == 0 || (size >= 0x7ffff000 && size <= 0x80000000) || size >= 0xfffff000; }

bool is_printable(const unsigned char *id) {
  return std::all_of(id, id + 4, [](unsigned char byte) { return byte >= ' ' && byte < 0x7f; });
}

// Chunks that are found behind samples, also in files whose RIFF chunk does not reach that far.
bool is_usual_chunk(const unsigned char *id) {
  for (const char *usual :
       {"data", "LIST", "list", "fact", "cue ", "smpl", "inst", "bext", "JUNK", "junk", "PAD ", "FLLR", "id3 ",
        "ID3 ", "PEAK", "iXML", "_PMX", "DISP", "afsp", "AFAn", "plst", "labl", "note", "acid", "strc", "minf",
        "elm1", "regn", "umid", "levl", "cart", "chna", "axml", "SAUR", "CSET", "LGWV", "ResU"}) {
    if (memcmp(id, usual, 4) == 0) return true;
  }
  return false;
}

uint64_t bits_of(const unsigned char *bytes, size_t n, bool is_big_endian) {
  uint64_t bits = 0;
  for (size_t i = 0; i < n; ++i) bits |= uint64_t{bytes[i]} << 8 * (is_big_endian ? n - 1 - i : i);
  return bits;
}

template <typename Number, typename Bits>
Number as(Bits bits) {
  static_assert(sizeof(Number) == sizeof(Bits));
  Number number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

float value_of(const SampleCode &code, const unsigned char *bytes) {
  switch (code.encoding) {
    case Encoding::kUnsigned:
      return (static_cast<float>(bytes[0]) - 128) / 128;
    case Encoding::kUlaw:
      return static_cast<float>(g711::kUlaw[bytes[0]]) / 32768;
    case Encoding::kAlaw:
      return static_cast<float>(g711::kAlaw[bytes[0]]) / 32768;
    case Encoding::kFloat: {
      const uint64_t bits = bits_of(bytes, code.n_bytes, code.is_big_endian);
      return code.n_bytes == 8 ? static_cast<float>(as<double>(bits)) : as<float>(static_cast<uint32_t>(bits));
    }
    case Encoding::kSigned:
      break;
  }
  const auto bits = static_cast<uint32_t>(bits_of(bytes, code.n_bytes, code.is_big_endian) << 8 * (4 - code.n_bytes));
  return static_cast<float>(static_cast<double>(static_cast<int32_t>(bits)) / 2147483648.0);
}

}  // namespace

bool SampleCode::is_possible() const {
  if (encoding == Encoding::kSigned) return n_bytes >= 1 && n_bytes <= 4;
  return encoding == Encoding::kFloat ? n_bytes == 4 || n_bytes == 8 : n_bytes == 1;
}

AudioDecoder::AudioDecoder(const AudioInput &input) : input_(input) {}

void AudioDecoder::push(const void *bytes, size_t n) {
  bytes_.append(static_cast<const char *>(bytes), n);
  run();
}

void AudioDecoder::finish() {
  if (has_ended_) return;
  has_ended_ = true;
  run();
  if (state_ == State::kHeader) {
    if (n_recordings_ == 0) refuse(ASR_BAD_FILE, false, "ends within its header; check how it was recorded and copied");
    ignore("another recording follows, which ends within its header");
  }
  end_samples(n_left());
  mixer_.finish(&ready_);
  if (n_bad_ > 1) {
    warnings_.push_back(format("has %llu values in all that are no number or infinite, and are heard as silence", ull{n_bad_}));
  }
  if (const uint32_t n_heard = n_recordings_ - (is_within_ ? 1 : 0); n_heard > 1) {
    warnings_.push_back(format("is %u recordings one after another, which are heard as one", n_heard));
  }
}

void AudioDecoder::run() {
  try {
    while (step()) continue;
  } catch (const Error &error) {
    if (n_recordings_ == 0) throw;
    ignore(format("another recording follows, which %s", error.what()));
    take(n_left());
  }
  bytes_.erase(0, at_);
  at_ = 0;
}

// Returns false if more bytes are needed.
bool AudioDecoder::step() {
  if (skip_ > 0) return skip();
  switch (state_) {
    case State::kKind:
      return find_kind();
    case State::kHeader:
      return read_chunk();
    case State::kSamples:
      return read_samples();
    case State::kBehind:
      return look_behind();
    case State::kIgnored:
      take(n_left());
  }
  return false;
}

bool AudioDecoder::skip() {
  const size_t n = std::min<uint64_t>(skip_, n_left());
  take(n);
  skip_ -= n;
  return n > 0;
}

bool AudioDecoder::is_wav() const { return kind_ != nullptr && strcmp(kind_->name, "WAV") == 0; }

bool AudioDecoder::find_kind() {
  if (n_left() == 0) return false;
  constexpr size_t kFirst = 24;
  const bool is_named = input_.header == AudioInput::Header::kNone;
  if (is_named && n_left() < kFirst && !has_ended_) return false;
  const KindFound found = is_named ? kind_of(here(), std::min(n_left(), kFirst), true) : kind_of(here(), n_left(), has_ended_);
  if (is_named && found.kind != nullptr) {
    warnings_.push_back(format("begins like %s, but is taken for samples without a header, as it was said", found.kind->name));
  }
  if (!is_named && found.kind == nullptr && found.n_needed > n_left() && !has_ended_) return false;
  if (is_named || (found.kind == nullptr && input_.header == AudioInput::Header::kOptional)) {
    found_ = {input_.code, input_.rate_hz, input_.n_channels};
    begin_samples(UINT64_MAX, false);
    return true;
  }
  if (found.kind == nullptr)
    refuse(ASR_BAD_FILE, true,
           "begins like no file of audio; for samples without a header give their format, or name the file .raw");
  if (found.kind->reader != FileKind::Reader::kDecoder) {
    other_ = found.kind;
    refuse(ASR_UNSUPPORTED, found.kind->reader == FileKind::Reader::kSndfile, why_not_decoded(*found.kind));
  }
  kind_ = found.kind;
  if (!is_wav()) return read_au();
  read_riff();
  return true;
}

// Reads the header of an AU file, after which come its samples.
bool AudioDecoder::read_au() {
  is_big_endian_ = true;
  const size_t begin = n_left() < 24 ? 0 : number(4, 4);
  if (begin >= 24 && begin <= kMaxAuHeaderBytes && n_left() < begin && !has_ended_) return false;
  if (begin < 24 || n_left() < begin) {
    refuse(ASR_BAD_FILE, false, "has a header that is damaged or cut short; check how it was recorded and copied");
  }
  const uint32_t size = number(8, 4), encoding = number(12, 4);
  const auto set = [&](Encoding kind, uint32_t n_bytes) { found_.code = {kind, n_bytes, true}; };
  if (encoding == 1) {
    set(Encoding::kUlaw, 1);
  } else if (encoding >= 2 && encoding <= 5) {
    set(Encoding::kSigned, encoding - 1);
  } else if (encoding == 6 || encoding == 7) {
    set(Encoding::kFloat, encoding == 6 ? 4 : 8);
  } else if (encoding == 27) {
    set(Encoding::kAlaw, 1);
  } else {
    refuse(ASR_UNSUPPORTED, true, format("is AU of the encoding %u, which is read from files only; convert it", encoding));
  }
  found_.rate_hz = number(16, 4);
  found_.n_channels = number(20, 4);
  take(begin);
  begin_samples(is_unknown(size) ? UINT64_MAX : size, !is_unknown(size));
  return true;
}

void AudioDecoder::read_riff() {
  is_big_endian_ = here()[3] == 'X';
  const uint32_t size = number(4, 4);
  riff_end_ = is_unknown(size) ? 0 : position_ + 8 + size;
  take(kRiffBytes);
  found_ = {};
  data_64_ = 0;
  has_chunks_behind_ = false;
  state_ = State::kHeader;
}

bool AudioDecoder::read_chunk() {
  if (n_left() < 8) return false;
  const std::string id(here(), here() + 4);
  const uint32_t size = number(4, 4);
  const size_t n_read = id == "fmt " ? std::min<size_t>(size, kFormatBytes) : id == "ds64" ? std::min<size_t>(size, 28) : 0;
  if (n_left() < 8 + n_read) return false;
  take(8);
  if (id == "data") {
    const bool is_64 = data_64_ != 0 && size == 0xffffffff;
    begin_samples(is_64 ? data_64_ : size, is_64 || !is_unknown(size));
    return true;
  }
  if (id == "fmt ") read_format(n_read);
  if (id == "ds64" && n_read == 28) {
    const uint64_t riff = number(0, 4) | uint64_t{number(4, 4)} << 32, data = number(8, 4) | uint64_t{number(12, 4)} << 32;
    if (riff != 0 && riff < UINT64_MAX / 2) riff_end_ = riff + 8;
    data_64_ = data < UINT64_MAX / 2 ? data : 0;
  }
  skip_ = uint64_t{size} + size % 2;
  return true;
}

// Reads the next n bytes, the beginning of a "fmt " chunk.
void AudioDecoder::read_format(size_t n) {
  if (n < 16) refuse(ASR_BAD_FILE, false, "has a header without a format; check how it was recorded and copied");
  uint32_t codec = number(0, 2);
  if (codec == kExtensible && n >= 26) codec = number(24, 2);
  found_.n_channels = number(2, 2);
  found_.rate_hz = number(4, 4);
  const uint32_t block = number(12, 2), n_bits = number(14, 2);
  uint32_t n_bytes = codec == kAlaw || codec == kUlaw ? 1 : (n_bits + 7) / 8;
  // Samples of few bits may stand in more bytes, unless the number of bytes a second says that they do not.
  const uint32_t in_block = found_.n_channels > 0 && block % found_.n_channels == 0 ? block / found_.n_channels : 0;
  if (in_block > n_bytes && number(8, 4) == uint64_t{found_.rate_hz} * found_.n_channels * n_bytes) {
    warnings_.push_back(
        format("has samples of %u bits and blocks of %u bytes by its header, which do not agree; the bits are "
               "taken for right, as the bytes a second are",
               n_bits, block));
  } else {
    n_bytes = std::max(n_bytes, in_block);
  }
  const Encoding integer = n_bytes == 1 ? Encoding::kUnsigned : Encoding::kSigned;
  found_.code = {codec == kAlaw    ? Encoding::kAlaw
                 : codec == kUlaw  ? Encoding::kUlaw
                 : codec == kFloat ? Encoding::kFloat
                                   : integer,
                 n_bytes, is_big_endian_};
  const bool is_known = codec == kPcm || codec == kFloat || codec == kAlaw || codec == kUlaw;
  if (is_known && found_.code.is_possible()) return;
  refuse(ASR_UNSUPPORTED, true,
         format("is WAV of the codec 0x%04x with %u bits a sample, which is read from files only; convert it: ffmpeg -i FILE "
                "-c:a pcm_s16le out.wav",
                codec, n_bits));
}

void AudioDecoder::begin_samples(uint64_t n_bytes, bool is_sure) {
  if (found_.n_channels == 0 || found_.n_channels > kMaxChannels) {
    refuse(ASR_BAD_FILE, false,
           format("has a header %s %u channels; check how it was recorded and copied",
                  is_wav() && found_.rate_hz == 0 ? "without a format, or with" : "with", found_.n_channels));
  }
  if (found_.rate_hz < kMinSampleRateHz || found_.rate_hz > kMaxSampleRateHz) {
    refuse(ASR_BAD_FILE, false, format("says that it has %u samples a second; check how it was recorded", found_.rate_hz));
  }
  if (n_recordings_ == 0) {
    if (input_.channel >= static_cast<int32_t>(found_.n_channels)) {
      refuse(ASR_INVALID_ARGUMENT, false,
             format("has %u channel%s, of which number %d was asked for; they are numbered from 0", found_.n_channels,
                    found_.n_channels == 1 ? "" : "s", input_.channel));
    }
    mixer_ = ChannelMixer(found_.n_channels, input_.channel, found_.rate_hz);
  } else if (found_.rate_hz != format_.rate_hz || found_.n_channels != format_.n_channels) {
    return ignore(format("another recording follows, of %u samples a second and %u channel%s", found_.rate_hz,
                         found_.n_channels, found_.n_channels == 1 ? "" : "s"));
  }
  format_ = found_;
  n_data_ = data_left_ = n_bytes;
  is_sure_ = is_sure;
  is_surplus_ = false;
  n_surplus_ = 0;
  n_recordings_ += has_chunks_behind_ ? 0 : 1;  // more samples of the same file, if behind
  state_ = State::kSamples;
}

bool AudioDecoder::begins_riff(size_t at) const {
  if (n_left() < at + kRiffBytes) return false;
  const unsigned char *const bytes = here() + at;
  return memcmp(bytes + 8, "WAVE", 4) == 0 && bytes[0] == 'R' &&
         (memcmp(bytes, "RIFF", 4) == 0 || memcmp(bytes, "RIFX", 4) == 0 || memcmp(bytes, "RF64", 4) == 0);
}

// Decodes up to the end that the header tells of, or up to the header of a next recording, whatever came of the end of this.
bool AudioDecoder::read_samples() {
  const size_t n_here = std::min<uint64_t>(data_left_, n_left());
  size_t n = n_here;
  bool is_next = false;
  if (is_wav()) {
    const size_t n_searched = n_left() < kRiffBytes ? 0 : std::min(n_here, n_left() - kRiffBytes + 1);
    if (!has_ended_) n = std::min(n, n_searched);
    for (size_t i = 0; i < n_searched; ++i) {
      const void *const next = memchr(here() + i, 'R', n_searched - i);
      if (next == nullptr) break;
      i = static_cast<size_t>(static_cast<const unsigned char *>(next) - here());
      is_next = begins_riff(i);
      if (!is_next) continue;
      n = i;
      break;
    }
  }
  const bool is_all = n == data_left_;
  const size_t n_whole = n / sample_bytes() * sample_bytes();
  decode(n_whole);
  if (is_next) {
    data_left_ -= n - n_whole;
    take(n - n_whole);
    begin_next();
    return true;
  }
  if (is_all) state_ = State::kBehind;
  return is_all;
}

bool AudioDecoder::is_chunk(size_t at) const {
  if (n_left() < at + 8) return false;
  const bool is_within = position_ + at + 8 + number(at + 4, 4) <= riff_end_;
  return is_usual_chunk(here() + at) || (is_within && is_printable(here() + at));
}

// The samples that the header tells of have ended, but for data_left_ bytes of an incomplete one. Either chunks follow, or
// another recording, or more samples.
bool AudioDecoder::look_behind() {
  const size_t n_rest = data_left_;
  if (n_left() < n_rest + 1 + kRiffBytes && !has_ended_) return false;
  if (n_left() == n_rest) {
    take(n_rest);
    data_left_ = 0;
    return false;
  }
  if (is_wav()) {
    for (const size_t at : {n_rest, n_rest + 1}) {  // a chunk of an odd size should be followed by a byte 0
      if (at > n_rest && (n_data_ % 2 == 0 || here()[n_rest] != 0)) break;
      if (begins_riff(at)) {
        take(at);
        data_left_ = 0;
        begin_next();
        return true;
      }
      if (is_chunk(at)) return read_chunk_behind(at);
    }
  }
  if (has_chunks_behind_) {
    ignore("more bytes follow behind its last chunk");
    return true;
  }
  is_surplus_ = is_sure_;
  data_left_ = UINT64_MAX;
  state_ = State::kSamples;
  return true;
}

bool AudioDecoder::read_chunk_behind(size_t at) {
  take(at);
  const bool is_data = memcmp(here(), "data", 4) == 0;
  const uint32_t size = number(4, 4);
  take(8);
  data_left_ = n_data_ = 0;
  has_chunks_behind_ = true;
  if (is_data) {
    found_ = format_;
    begin_samples(size, !is_unknown(size));
  } else {
    skip_ = uint64_t{size} + size % 2;
  }
  return true;
}

void AudioDecoder::begin_next() {
  if (!has_samples_ && n_recordings_ == 1 && !is_within_) {
    is_within_ = true;
    warnings_.push_back("begins with the header of another recording where its samples should be; give that one alone");
  } else {
    end_samples(0);
  }
  read_riff();
}

// Says what the header and the samples disagree about. n_present: bytes of samples that were not decoded.
void AudioDecoder::end_samples(size_t n_present) {
  if (state_ == State::kSamples && is_sure_ && !is_surplus_ && data_left_ > n_present) {
    const uint64_t n = data_left_ - n_present;
    n_missing_ += n;
    warnings_.push_back(
        format("is cut short: %llu bytes that its header tells of are missing; check how it was copied", ull{n}));
  }
  if (is_surplus_ && n_surplus_ > 0) {
    warnings_.push_back(format("has %llu samples by its header, and %llu more, which are heard, too; check how it was recorded",
                               ull{n_data_ / sample_bytes()}, ull{n_surplus_ / sample_bytes()}));
  }
  is_surplus_ = false;
}

void AudioDecoder::decode(size_t n_bytes) {
  const size_t n_values = n_bytes / format_.code.n_bytes;
  has_samples_ = has_samples_ || n_values > 0;
  decoded_.resize(n_values);
  const unsigned char *bytes = here();
  for (size_t i = 0; i < n_values; ++i) decoded_[i] = value_of(format_.code, bytes + i * format_.code.n_bytes);
  if (format_.code.encoding == Encoding::kFloat) silence_bad_values();
  n_decoded_ += n_values / format_.n_channels;
  const int32_t taken = mixer_.taken();
  mixer_.add(decoded_.data(), n_values / format_.n_channels, &ready_);
  if (mixer_.taken() != taken) {
    warnings_.push_back(
        format("has channels that cancel each other, so that channel %d, the louder, is heard instead of "
               "their mean",
               mixer_.taken()));
  }
  take(n_bytes);
  if (data_left_ != UINT64_MAX) data_left_ -= n_bytes;
  if (is_surplus_) n_surplus_ += n_bytes;
}

// A value that is no number, or beyond what a float holds, would spoil all that is computed from it.
void AudioDecoder::silence_bad_values() {
  for (size_t i = 0; i < decoded_.size(); ++i) {
    if (std::isfinite(decoded_[i])) continue;
    if (n_bad_++ == 0) {
      const uint64_t sample = n_decoded_ + i / format_.n_channels;
      warnings_.push_back(
          format("sample %llu of channel %zu (at %.3f s) is %s; such values are heard as silence, check how it was "
                 "made",
                 ull{sample}, i % format_.n_channels, static_cast<double>(sample) / format_.rate_hz,
                 std::isnan(decoded_[i]) ? "not a number" : "infinite"));
    }
    decoded_[i] = 0;
  }
}

size_t AudioDecoder::read(float *samples, size_t n) {
  n = std::min(n, n_ready());
  const size_t n_values = n * n_out_channels();
  std::copy_n(ready_.begin() + static_cast<ptrdiff_t>(begin_), n_values, samples);
  begin_ += n_values;
  if (begin_ == ready_.size()) {
    ready_.clear();
    begin_ = 0;
  } else if (begin_ > ready_.size() / 2) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
  return n;
}

void AudioDecoder::ignore(const std::string &why) {
  warnings_.push_back(why + "; it is not heard");
  state_ = State::kIgnored;
  skip_ = 0;
}

void AudioDecoder::refuse(asr_status status, bool is_for_sndfile, const std::string &why) {
  is_for_sndfile_ = is_for_sndfile;
  state_ = State::kIgnored;
  fail(status, "%s", why.c_str());
}

uint32_t AudioDecoder::number(size_t at, size_t n_bytes) const {
  return static_cast<uint32_t>(bits_of(here() + at, n_bytes, is_big_endian_));
}

bool AudioDecoder::next_warning(std::string *message) {
  if (warnings_.empty()) return false;
  *message = std::move(warnings_.front());
  warnings_.pop_front();
  return true;
}

}  // namespace asr
