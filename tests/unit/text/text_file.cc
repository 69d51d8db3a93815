// SPDX-License-Identifier: Apache-2.0
#include "builder/text/text_file.h"

#include "core/base/limits.h"
#include "tests/unit/scratch.h"
#include "tests/unit/text/packed.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;

const WantedText kWords{"a list of words"};

TEST(TextFile, EveryFormGivesTheSameText) {
  const Scratch scratch;
  const std::string path = scratch / "words", text = "one\ncaf\u00e9 two\n\nend\n";
  for (const auto &[name, bytes] : test::forms_of(text)) {
    test::spill(path, bytes);
    const bool is_cut = std::string(name) == "CR at the end";
    EXPECT_EQ(read_text(path, kWords), is_cut ? text.substr(0, text.size() - 1) : text) << name;
  }
  test::spill(path, "");
  EXPECT_EQ(read_text(path, kWords), "");
  test::spill(path, "a\rb\nc\r\n");  // a '\r' within a line stays
  EXPECT_EQ(read_text(path, kWords), "a\rb\nc\n");
}

TEST(TextFile, PathsStayAsTheyAre) {
  const Scratch scratch;
  test::spill(scratch / "list",
              "\xef\xbb\xbf"
              "cafe\u0301.wav\r\n");
  EXPECT_EQ(read_text(scratch / "list", {"a list", {}, Characters::kAsTheyAre}), "cafe\u0301.wav\n");
}

TEST(TextFile, RefusesWhatIsNoText) {
  const auto read = [](std::string bytes) { return [bytes] { text_of(bytes, "words", kWords); }; };
  expect_error(read(std::string("a\nb\0c\n", 6)), ASR_BAD_FILE, "words: line 2: has a zero byte");
  expect_error(read("\xff\xfe" + std::string("a\0\n\0", 4)), ASR_BAD_FILE,
               "is text in UTF-16, not a list of words; convert it: iconv");
  expect_error(read("\xfe\xff" + std::string("\0a\0\n", 4)), ASR_BAD_FILE, "UTF-16");
  expect_error(read(std::string("a\0b\0\n\0", 6)), ASR_BAD_FILE, "iconv -f UTF-16LE");
  expect_error(read(std::string("\0a\0b\0\n", 6)), ASR_BAD_FILE, "iconv -f UTF-16BE");
  expect_error(read(test::gzip("a\n")), ASR_BAD_FILE, "is packed with gzip, not a list of words; unpack it");
}

TEST(TextFile, LimitsHoldOfWhatIsUnpacked) {
  const Scratch scratch;
  test::spill(scratch / "words", test::gzip(std::string(5000, 'a')));
  const WantedText small{"a list of words", {}, Characters::kNormalised, 1000};
  expect_error([&] { read_text(scratch / "words", small); }, ASR_BAD_FILE, "unpacks to more than 1000 bytes");
  test::spill(scratch / "words", std::string(5000, 'a'));
  expect_error([&] { read_text(scratch / "words", small); }, ASR_BAD_FILE, "has 5000 bytes, but up to 1000 are read");
}

TEST(TextFile, BytesAreMappedOrUnpacked) {
  const Scratch scratch;
  const std::string path = scratch / "file", bytes("\0B\r\n\xef", 5);
  for (const std::string &written : {bytes, test::gzip(bytes), test::xz(bytes), test::bzip2(bytes)}) {
    test::spill(path, written);
    UnpackedFile file(path);
    EXPECT_EQ(file.bytes(), bytes);
    EXPECT_EQ(file.is_packed(), written != bytes);
    EXPECT_EQ(read_unpacked(path, "a matrix", {Format::kKaldiBinary}), bytes);
    const UnpackedFile moved(std::move(file));
    EXPECT_EQ(moved.bytes(), bytes);
    EXPECT_EQ(UnpackedFile(path).take(), bytes);
  }
  test::spill(path, "");
  EXPECT_EQ(UnpackedFile(path).size(), 0u);
}

}  // namespace
}  // namespace asr
