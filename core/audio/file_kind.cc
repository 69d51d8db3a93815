// SPDX-License-Identifier: Apache-2.0
#include "core/audio/file_kind.h"

#include <algorithm>
#include <cstring>

namespace asr {
namespace {

using Reader = FileKind::Reader;

constexpr char kConvert[] = "which is not read; convert it: ffmpeg -i FILE -ac 1 out.wav";
constexpr char kUnpack[] = "which is no recording; unpack it";
constexpr char kDecode[] = "which is no recording; decode it: base64 -d FILE";
constexpr char kName[] = "which is no recording; name one";

struct Signature {
  size_t at, n;
  const char *bytes;
  FileKind kind;
};

// In this order: what is said of the first 4 bytes of a RIFF file depends on the next ones.
const Signature kSignatures[] = {
    {8, 4, "WAVE", {"WAV", Reader::kDecoder, ""}},  // its first 4 bytes are looked at below
    {0, 4, "RF64", {"RF64", Reader::kNone, kConvert}},
    {8, 4, "AVI ", {"AVI", Reader::kNone, kConvert}},
    {0, 4, "RIFF", {"no WAV, although it begins as one", Reader::kNone, kConvert}},
    {0, 4, "RIFX", {"no WAV, although it begins as one", Reader::kNone, kConvert}},
    {0, 4, ".snd", {"AU", Reader::kDecoder, ""}},
    {0, 4, "fLaC", {"FLAC", Reader::kSndfile, ""}},
    {0, 4, "OggS", {"Ogg", Reader::kSndfile, ""}},
    {0, 4, "FORM", {"AIFF", Reader::kSndfile, ""}},
    {0, 4, "caff", {"CAF", Reader::kSndfile, ""}},
    {0, 4, "riff", {"Wave64", Reader::kSndfile, ""}},
    {0, 4, "NIST", {"NIST SPHERE", Reader::kSndfile, ""}},
    {0, 19, "Creative Voice File", {"VOC", Reader::kSndfile, ""}},
    {0, 3, "ID3", {"MP3", Reader::kSndfile, ""}},
    {0, 4, "\x1a\x45\xdf\xa3", {"WebM or Matroska", Reader::kNone, kConvert}},
    {4, 4, "ftyp", {"MP4, M4A or 3GP", Reader::kNone, kConvert}},
    {4, 4, "moov", {"QuickTime", Reader::kNone, kConvert}},
    {4, 4, "mdat", {"QuickTime", Reader::kNone, kConvert}},
    {0, 5, "#!AMR", {"AMR", Reader::kNone, kConvert}},
    {0, 8, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", {"ASF, WMA or WMV", Reader::kNone, kConvert}},
    {0, 4, "FLV\1", {"Flash video", Reader::kNone, kConvert}},
    {0, 4, "\0\0\1\xba", {"MPEG video", Reader::kNone, kConvert}},
    {0, 4, ".RMF", {"RealMedia", Reader::kNone, kConvert}},
    {0, 4, "MAC ", {"Monkey's Audio", Reader::kNone, kConvert}},
    {0, 4, "wvpk", {"WavPack", Reader::kNone, kConvert}},
    {0, 4, "TTA1", {"TTA", Reader::kNone, kConvert}},
    {0, 4, "MPCK", {"Musepack", Reader::kNone, kConvert}},
    {0, 4, "ajkg", {"Shorten", Reader::kNone, kConvert}},
    {0, 4, "DSD ", {"DSF", Reader::kNone, kConvert}},
    {0, 4, "FRM8", {"DSDIFF", Reader::kNone, kConvert}},
    {0, 9, "#!SILK_V3", {"SILK", Reader::kNone, kConvert}},
    {1, 9, "#!SILK_V3", {"SILK", Reader::kNone, kConvert}},
    // The Base64 of RIFF, OggS, fLaC, ID3 and WebM.
    {0, 5, "UklGR", {"Base64", Reader::kNone, kDecode}},
    {0, 5, "T2dnU", {"Base64", Reader::kNone, kDecode}},
    {0, 5, "ZkxhQ", {"Base64", Reader::kNone, kDecode}},
    {0, 4, "SUQz", {"Base64", Reader::kNone, kDecode}},
    {0, 5, "GkXfo", {"Base64", Reader::kNone, kDecode}},
    {0, 4, "MThd", {"MIDI", Reader::kNone, kName}},
    {0, 3, "\x1f\x8b\x08", {"gzip", Reader::kNone, kUnpack}},
    {0,
     6,
     "\xfd"
     "7zXZ\0",
     {"xz", Reader::kNone, kUnpack}},
    {0, 4, "\x28\xb5\x2f\xfd", {"Zstandard", Reader::kNone, kUnpack}},
    {0, 4, "PK\3\4", {"zip", Reader::kNone, kUnpack}},
    {4, 6, "1AY&SY", {"bzip2", Reader::kNone, kUnpack}},
    {0, 6, "7z\xbc\xaf\x27\x1c", {"7-Zip", Reader::kNone, kUnpack}},
    {0, 5, "%PDF-", {"PDF", Reader::kNone, kName}},
    {0, 5, "\x89PNG\r", {"a picture", Reader::kNone, kName}},
    {0,
     4,
     "\x7f"
     "ELF",
     {"a program", Reader::kNone, kName}},
};

const FileKind kMp3{"MP3", Reader::kSndfile, ""};
const FileKind kAac{"AAC", Reader::kNone, kConvert};
const FileKind kTransport{"an MPEG transport stream", Reader::kNone, kConvert};
const FileKind kText{"text", Reader::kNone, kName};

constexpr size_t kTextBytes = 16, kTransportBytes = 188;
static_assert(kTextBytes + 8 >= 19 && kMaxKindBytes > 2 * kTransportBytes);

// Returns the length of a frame of MPEG-1, -2 or -2.5 audio with this header of 4 bytes, 0 if it is none.
size_t mpeg_frame_bytes(const unsigned char *header) {
  static constexpr uint16_t kKbits[2][3][16] = {{{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
                                                 {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
                                                 {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}},
                                                {{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
                                                 {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
                                                 {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}};
  static constexpr unsigned kRates[3] = {44100, 48000, 32000};
  if (header[0] != 0xff || (header[1] & 0xe0) != 0xe0) return 0;
  const unsigned version = header[1] >> 3 & 3, layer = header[1] >> 1 & 3, rate = header[2] >> 2 & 3;
  if (version == 1 || layer == 0 || rate == 3) return 0;
  const unsigned kbits = kKbits[version == 3 ? 0 : 1][3 - layer][header[2] >> 4];
  if (kbits == 0) return 0;
  const unsigned rate_hz = kRates[rate] >> (version == 3 ? 0 : version == 2 ? 1 : 2), padding = header[2] >> 1 & 1;
  if (layer == 3) return (12000 * kbits / rate_hz + padding) * 4;
  return (layer == 1 && version != 3 ? 72000 : 144000) * kbits / rate_hz + padding;
}

// The same for AAC with ADTS headers, of which the first 6 bytes are looked at.
size_t adts_frame_bytes(const unsigned char *header) {
  if (header[0] != 0xff || (header[1] & 0xf6) != 0xf0 || (header[2] >> 2 & 15) > 12) return 0;
  return (header[3] & 3u) << 11 | unsigned{header[4]} << 3 | header[5] >> 5;
}

// A first frame of which the second one, of the same kind, follows.
KindFound framed(const unsigned char *bytes, size_t n, bool has_ended) {
  const auto follows = [&](size_t frame, size_t (*length)(const unsigned char *), const FileKind &kind) {
    const size_t n_needed = frame + 8;
    if (n < n_needed && !has_ended) return KindFound{nullptr, n_needed};
    const bool is_second = n >= n_needed && length(bytes + frame) > 0 && (bytes[frame + 1] & 0xfe) == (bytes[1] & 0xfe);
    return KindFound{is_second ? &kind : nullptr, n_needed};
  };
  if (const size_t frame = mpeg_frame_bytes(bytes); frame >= 8) return follows(frame, mpeg_frame_bytes, kMp3);
  if (const size_t frame = adts_frame_bytes(bytes); frame >= 8) return follows(frame, adts_frame_bytes, kAac);
  return {nullptr, 0};
}

// Letters with a blank, a digit or a mark among them: the bytes of quiet G.711 are letters alone.
bool is_text(const unsigned char *bytes, size_t n) {
  if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) bytes += 3, n -= 3;
  if (n < kTextBytes) return false;
  const auto is_character = [](unsigned char byte) {
    return (byte >= ' ' && byte < 0x7f) || byte == '\t' || byte == '\n' || byte == '\r';
  };
  return std::all_of(bytes, bytes + kTextBytes, is_character) &&
         std::any_of(bytes, bytes + kTextBytes, [](unsigned char byte) { return byte < 'A'; });
}

bool is_riff(const unsigned char *bytes) {
  for (const char *id : {"RIFF", "RIFX", "RF64", "BW64"}) {
    if (memcmp(bytes, id, 4) == 0) return true;
  }
  return false;
}

}  // namespace

KindFound kind_of(const unsigned char *bytes, size_t n, bool has_ended) {
  constexpr size_t kEnough = kTextBytes + 8;
  if (n < kEnough && !has_ended) return {nullptr, kEnough};
  for (const Signature &signature : kSignatures) {
    if (n < signature.at + signature.n || memcmp(bytes + signature.at, signature.bytes, signature.n) != 0) continue;
    if (signature.at == 8 && !is_riff(bytes)) continue;
    return {&signature.kind, kEnough};
  }
  if (is_text(bytes, n)) return {&kText, kEnough};
  if (n < 8) return {nullptr, kEnough};
  if (bytes[0] == 0x47) {
    const size_t n_needed = 2 * kTransportBytes + 1;
    if (n < n_needed && !has_ended) return {nullptr, n_needed};
    if (n >= n_needed && bytes[kTransportBytes] == 0x47 && bytes[2 * kTransportBytes] == 0x47) return {&kTransport, n_needed};
  }
  return framed(bytes, n, has_ended);
}

std::string why_not_decoded(const FileKind &kind) {
  const std::string name = kind.name;
  if (kind.reader == Reader::kSndfile) {
    return "is " + name + ", which is read from files only; name the file, or convert it: ffmpeg -i FILE -f wav -";
  }
  return "is " + name + ", " + kind.remedy;
}

}  // namespace asr
