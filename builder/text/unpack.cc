// SPDX-License-Identifier: Apache-2.0
#include "builder/text/unpack.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;

// The outcome of one call of a library's decoder.
enum class Step { kMore, kEnd, kDamaged, kNoMemory, kTooLarge };

// The three decoders below have one form: open begins a stream, step decodes some of [*in, end) to [*out, out_end) and moves
// both. Streams may follow one another in a file.
class Gzip {
 public:
  static constexpr char kName[] = "gzip";
  Gzip() { is_open_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }  // 16: gzip's header
  ~Gzip() { inflateEnd(&stream_); }
  Gzip(const Gzip &) = delete;
  Gzip &operator=(const Gzip &) = delete;

  Step step(const char **in, const char *end, char **out, const char *out_end) {
    if (!is_open_) return Step::kNoMemory;
    stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(*in));
    stream_.avail_in = static_cast<uInt>(std::min<ptrdiff_t>(end - *in, std::numeric_limits<int>::max()));
    stream_.next_out = reinterpret_cast<Bytef *>(*out);
    stream_.avail_out = static_cast<uInt>(out_end - *out);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    *in = reinterpret_cast<const char *>(stream_.next_in);
    *out = reinterpret_cast<char *>(stream_.next_out);
    return code == Z_OK || code == Z_BUF_ERROR ? Step::kMore
           : code == Z_STREAM_END              ? Step::kEnd
           : code == Z_MEM_ERROR               ? Step::kNoMemory
                                               : Step::kDamaged;
  }

 private:
  z_stream stream_{};
  bool is_open_ = false;
};

class Xz {
 public:
  static constexpr char kName[] = "xz";
  Xz() { is_open_ = lzma_stream_decoder(&stream_, kMaxUnpackingBytes, 0) == LZMA_OK; }
  ~Xz() { lzma_end(&stream_); }
  Xz(const Xz &) = delete;
  Xz &operator=(const Xz &) = delete;

  Step step(const char **in, const char *end, char **out, const char *out_end) {
    if (!is_open_) return Step::kNoMemory;
    stream_.next_in = reinterpret_cast<const uint8_t *>(*in);
    stream_.avail_in = static_cast<size_t>(end - *in);
    stream_.next_out = reinterpret_cast<uint8_t *>(*out);
    stream_.avail_out = static_cast<size_t>(out_end - *out);
    const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
    *in = reinterpret_cast<const char *>(stream_.next_in);
    *out = reinterpret_cast<char *>(stream_.next_out);
    return code == LZMA_OK || code == LZMA_BUF_ERROR ? Step::kMore
           : code == LZMA_STREAM_END                 ? Step::kEnd
           : code == LZMA_MEM_ERROR                  ? Step::kNoMemory
           : code == LZMA_MEMLIMIT_ERROR             ? Step::kTooLarge
                                                     : Step::kDamaged;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_open_ = false;
};

class Bzip2 {
 public:
  static constexpr char kName[] = "bzip2";
  Bzip2() { is_open_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK; }
  ~Bzip2() { BZ2_bzDecompressEnd(&stream_); }
  Bzip2(const Bzip2 &) = delete;
  Bzip2 &operator=(const Bzip2 &) = delete;

  Step step(const char **in, const char *end, char **out, const char *out_end) {
    if (!is_open_) return Step::kNoMemory;
    stream_.next_in = const_cast<char *>(*in);
    stream_.avail_in = static_cast<unsigned>(std::min<ptrdiff_t>(end - *in, std::numeric_limits<int>::max()));
    stream_.next_out = *out;
    stream_.avail_out = static_cast<unsigned>(out_end - *out);
    const int code = BZ2_bzDecompress(&stream_);
    *in = stream_.next_in;
    *out = stream_.next_out;
    return code == BZ_OK           ? Step::kMore
           : code == BZ_STREAM_END ? Step::kEnd
           : code == BZ_MEM_ERROR  ? Step::kNoMemory
                                   : Step::kDamaged;
  }

 private:
  bz_stream stream_{};
  bool is_open_ = false;
};

// Unpacks the streams of a file, one after another.
template <typename Decoder>
std::string unpack_all(std::string_view packed, const std::string &source, size_t max_bytes) {
  const char *in = packed.data();
  const char *const end = in + packed.size();
  const size_t max_real = std::max<size_t>(
      kBaseUnpackedBytes, packed.size() > SIZE_MAX / kMaxUnpackedRatio ? SIZE_MAX : packed.size() * kMaxUnpackedRatio);
  std::string unpacked;
  std::vector<char> piece(kPieceBytes);
  while (in != end) {
    Decoder decoder;
    for (Step step = Step::kMore; step != Step::kEnd;) {
      const char *const before = in;
      char *out = piece.data();
      step = decoder.step(&in, end, &out, piece.data() + piece.size());
      const auto n = static_cast<size_t>(out - piece.data());
      if (step == Step::kNoMemory) throw std::bad_alloc();
      if (step == Step::kDamaged) {
        fail(ASR_BAD_FILE, "%s: its %s data is damaged after byte %zu of %zu; get the file again", source.c_str(),
             Decoder::kName, static_cast<size_t>(in - packed.data()), packed.size());
      }
      if (step == Step::kTooLarge) {
        fail(ASR_BAD_FILE, "%s: needs more than %zu bytes of memory to be unpacked; pack it with xz -9 or less", source.c_str(),
             kMaxUnpackingBytes);
      }
      if (n > max_bytes - unpacked.size()) {
        fail(ASR_BAD_FILE, "%s: unpacks to more than %zu bytes, which are the most that are read; name another file",
             source.c_str(), max_bytes);
      }
      if (n > max_real - unpacked.size()) {
        fail(ASR_BAD_FILE, "%s: unpacks to more than %zu times its %zu bytes; if that is right, unpack it and name the result",
             source.c_str(), kMaxUnpackedRatio, packed.size());
      }
      unpacked.append(piece.data(), n);
      if (step == Step::kMore && n == 0 && in == before) {
        fail(ASR_BAD_FILE, "%s: its %s data ends too early: the file is truncated; get it again", source.c_str(),
             Decoder::kName);
      }
    }
    while (in != end && *in == '\0') ++in;  // padding
    const std::string_view rest(in, static_cast<size_t>(end - in));
    if (!rest.empty() && packing_of(rest) != packing_of(packed)) {
      fail(ASR_BAD_FILE, "%s: has %zu bytes after its %s data, which do not belong to it; get the file again", source.c_str(),
           rest.size(), Decoder::kName);
    }
  }
  return unpacked;
}

}  // namespace

Packing packing_of(std::string_view bytes) {
  const auto begins = [bytes](std::string_view magic) { return bytes.substr(0, magic.size()) == magic; };
  if (begins("\x1f\x8b\x08")) return Packing::kGzip;
  if (begins(std::string_view("\xfd"
                              "7zXZ\0",
                              6))) {
    return Packing::kXz;
  }
  const bool has_block = bytes.substr(std::min<size_t>(4, bytes.size()), 6) == "1AY&SY" ||
                         bytes.substr(std::min<size_t>(4, bytes.size()), 6) == "\x17\x72\x45\x38\x50\x90";  // an empty file
  return begins("BZh") && has_block ? Packing::kBzip2 : Packing::kNone;
}

std::string unpack(std::string bytes, const std::string &source, size_t max_bytes) {
  switch (packing_of(bytes)) {
    case Packing::kGzip:
      return unpack_all<Gzip>(bytes, source, max_bytes);
    case Packing::kXz:
      return unpack_all<Xz>(bytes, source, max_bytes);
    case Packing::kBzip2:
      return unpack_all<Bzip2>(bytes, source, max_bytes);
    case Packing::kNone:
      break;
  }
  return bytes;
}

}  // namespace asr
