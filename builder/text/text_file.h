// SPDX-License-Identifier: Apache-2.0
// The one place where files that users bring become the text or bytes that readers parse. Packed files (gzip, xz, bzip2) are
// unpacked. Of text a byte order mark is dropped, ends of lines of Windows and old Macs become '\n', and words get Unicode's
// normal form C. UTF-16, zero bytes and files of another format are refused by that name, with the remedy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "builder/text/file_format.h"
#include "core/base/file.h"

namespace asr {

// Whether the characters of a text are words, which are compared, or also paths, whose bytes have to stay.
enum class Characters { kNormalised, kAsTheyAre };

// The kind of text that a reader wants, for its messages: {"a list of words"}. taken: known formats that it reads itself.
struct WantedText {
  const char *what;
  std::initializer_list<Format> taken = {};
  Characters characters = Characters::kNormalised;
  size_t max_bytes = SIZE_MAX;  // also after unpacking
};

// Returns the text of a file; "ends\nwith\n" or without '\n', as the file does. Throws asr::Error.
std::string read_text(const FileAt &place, const WantedText &wanted);

// The same for the bytes of a file that were read, and unpacked, before; or of standard input.
std::string text_of(std::string bytes, const std::string &source, const WantedText &wanted);

// Returns the bytes of a file whose format is binary, or that has binary and text forms: unpacked, without a byte order mark,
// and with '\n' as the ends of lines if there is no zero byte, but otherwise unchanged. Files of known formats that are not
// `taken` are refused as other than `wanted`.
std::string read_unpacked(const FileAt &place, const char *wanted, std::initializer_list<Format> taken);

// UnpackedFile is a file mapped read-only (MappedFile) or, if it is packed, its contents in memory. Movable, not copyable.
class UnpackedFile {
 public:
  UnpackedFile() = default;
  explicit UnpackedFile(const std::string &path);
  const uint8_t *data() const { return reinterpret_cast<const uint8_t *>(bytes().data()); }
  size_t size() const { return bytes().size(); }
  bool is_packed() const { return is_packed_; }
  std::string take();  // returns the bytes; the object has none afterwards
  std::string_view bytes() const {
    if (is_packed_) return unpacked_;
    return {reinterpret_cast<const char *>(mapped_.data()), mapped_.size()};
  }

 private:
  MappedFile mapped_;
  std::string unpacked_;
  bool is_packed_ = false;
};

}  // namespace asr
