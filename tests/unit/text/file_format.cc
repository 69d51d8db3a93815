// SPDX-License-Identifier: Apache-2.0
#include "builder/text/file_format.h"

#include "tests/unit/scratch.h"
#include "tests/unit/text/foreign.h"

namespace asr {
namespace {

using test::expect_error;

TEST(FileFormat, NamesWhatItIsAndWhatToDo) {
  for (const test::Foreign &foreign : test::foreign_files()) {
    const std::string bytes = std::string(foreign.name) == "packed with gzip" ? test::gzip("a\n") : foreign.bytes;
    const test::Outcome outcome = test::outcome_of([&] { check_format(bytes, "given.txt", "a list of words"); });
    EXPECT_EQ(outcome.code, ASR_BAD_FILE) << foreign.name;
    EXPECT_EQ(outcome.message.rfind("given.txt: is " + std::string(foreign.name) + ", not a list of words; ", 0), 0u)
        << outcome.message;
  }
}

TEST(FileFormat, WordsThatBeginLikeAFormatAreWords) {
  for (const char *words : {"s3\nabc\n", "MZ\n", "riff\nraff\n", "FORM F AO R M\n", "BMDF\n", "blmt\n", "the moov\n", "GIF89\n",
                            "Senone\n", "OggS\n", "~\n", "LZIP\n", "ID3\n", "one two (utt)\n", "1 2 3 (utt)\n", "MAC \n", ""}) {
    FormatFound found;
    EXPECT_FALSE(find_format(words, &found)) << words << ": " << found.name;
    check_format(words, "words", "a list of words");
  }
}

TEST(FileFormat, BinaryReadersNameText) {
  const auto check = [](const char *text) {
    return [text] { check_binary_format(text, "HCLG.fst", "a binary OpenFst graph", {Format::kOpenFst}); };
  };
  expect_error(check("0 1 5 7 0.5\n1 2 0 0\n2\n"), ASR_BAD_FILE,
               "is an OpenFst graph in text, not a binary OpenFst graph; fstcompile");
  expect_error(check("0\t1\t5\t7\n"), ASR_BAD_FILE, "fstcompile");
  expect_error(check("<eps> 0\none 1\n"), ASR_BAD_FILE, "is text, not a binary OpenFst graph");
  check("\xd6\xfd\xb2\x7e")();
  check("\1\2\3")();  // nothing that is known: the reader decides
}

}  // namespace
}  // namespace asr
