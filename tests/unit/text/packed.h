// SPDX-License-Identifier: Apache-2.0
// Packs bytes as gzip, xz and bzip2 do, and writes the forms in which people bring one text.
#pragma once

#include <bzlib.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace asr::test {

inline std::string gzip(const std::string &bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string xz(const std::string &bytes) {
  std::string packed(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t n = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                    reinterpret_cast<uint8_t *>(packed.data()), &n, packed.size()),
            LZMA_OK);
  packed.resize(n);
  return packed;
}

inline std::string bzip2(const std::string &bytes) {
  std::string packed(bytes.size() + bytes.size() / 50 + 700, '\0');
  auto n = static_cast<unsigned>(packed.size());
  EXPECT_EQ(BZ2_bzBuffToBuffCompress(packed.data(), &n, const_cast<char *>(bytes.data()), static_cast<unsigned>(bytes.size()),
                                     9, 0, 0),
            BZ_OK);
  packed.resize(n);
  return packed;
}

inline std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

struct TextForm {
  const char *name;
  std::string bytes;
};

// The forms of a text of lines; in its words "é" may stand, which becomes an e and a combining accent.
inline std::vector<TextForm> forms_of(const std::string &text) {
  const std::string bom = "\xef\xbb\xbf", windows = replaced(text, "\n", "\r\n");
  return {{"plain", text},
          {"BOM", bom + text},
          {"CRLF", windows},
          {"CR at the end", text.substr(0, text.size() - 1) + "\r"},
          {"BOM and CRLF", bom + windows},
          {"old Mac", replaced(text, "\n", "\r")},
          {"gz", gzip(text)},
          {"xz", xz(text)},
          {"bz2", bzip2(text)},
          {"two streams of gz", gzip(text.substr(0, text.size() / 2)) + gzip(text.substr(text.size() / 2))},
          {"gz of BOM and CRLF", gzip(bom + windows)},
          {"NFD", replaced(text, "\u00e9", "e\u0301")},
          {"xz of NFD", xz(replaced(text, "\u00e9", "e\u0301"))}};
}

}  // namespace asr::test
