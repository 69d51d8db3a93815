// SPDX-License-Identifier: Apache-2.0
// Tells by its first bytes what an input is: a file that AudioDecoder decodes, one that libsndfile reads, or one that has to be
// converted. Samples without a header are none of them.
#pragma once

#include <cstddef>
#include <string>

namespace asr {

struct FileKind {
  enum class Reader { kDecoder, kSndfile, kNone };
  const char *name;  // "FLAC", "WebM or Matroska"
  Reader reader;
  const char *remedy;  // what to do with it; "" unless reader is kNone
};

// A beginning of up to this size may be needed: MP3 and AAC are known by their second frame.
constexpr size_t kMaxKindBytes = 8192 + 4;

struct KindFound {
  const FileKind *kind;  // nullptr: none that is known
  size_t n_needed;       // bytes that decide; above n: more are needed, kind is open yet
};

// Returns the kind of an input that begins with bytes[0..n). has_ended: nothing follows these bytes.
KindFound kind_of(const unsigned char *bytes, size_t n, bool has_ended);

// Returns a message without a subject: "is MP4 or M4A, which ...; convert it: ...".
std::string why_not_decoded(const FileKind &kind);

}  // namespace asr
