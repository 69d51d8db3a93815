// SPDX-License-Identifier: Apache-2.0
// Tests the layout of the binary files: header, aligned sections, nothing beyond.
#include "core/base/sections.h"

#include <gtest/gtest.h>

#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t n;
};

std::string make_file(const Scratch &scratch, uint32_t n) {
  OutputFile file(scratch / "f");
  Header header = {{'S', 'e', 'n', 'o', 'n', 'e', 'X', 'X'}, 7, n};
  file.write(&header, sizeof(header));
  write_section(file, std::vector<uint64_t>(n, 5));
  write_section(file, std::vector<char>{'e', 'n', 'd'});
  file.commit();
  return test::slurp(scratch / "f");
}

void read(const std::string &bytes, uint64_t extra = 0) {
  SectionReader reader(bytes.data(), bytes.size(), "f");
  const Header header = reader.header<Header>("SenoneXX", 7);
  const auto numbers = reader.copy<uint64_t>(header.n + extra, "numbers");
  EXPECT_EQ(numbers, std::vector<uint64_t>(header.n, 5));
  const char *const end = reader.section<char>(3, "ending");
  EXPECT_EQ((end - bytes.data()) % 64, 0);
  EXPECT_EQ(std::string(end, 3), "end");
  reader.finish();
}

TEST(Sections, RoundTrip) {
  const Scratch scratch;
  for (const uint32_t n : {0u, 1u, 8u, 9u, 100u}) read(make_file(scratch, n));
}

TEST(Sections, RefuseDamage) {
  const Scratch scratch;
  const std::string good = make_file(scratch, 9);
  expect_error([&] { read(good.substr(0, 11)); }, ASR_BAD_FILE, "does not begin");
  expect_error([&] { read("x" + good.substr(1)); }, ASR_BAD_FILE, "SenoneXX");
  std::string other = good;
  other[8] = 8;
  expect_error([&] { read(other); }, ASR_BAD_FILE, "version 8");
  expect_error([&] { read(good.substr(0, 100)); }, ASR_BAD_FILE, "numbers");
  expect_error([&] { read(good.substr(0, good.size() - 1)); }, ASR_BAD_FILE, "ending");
  expect_error([&] { read(good + "x"); }, ASR_BAD_FILE, "header announces");
  expect_error([&] { read(good, uint64_t{1} << 61); }, ASR_BAD_FILE, "numbers");  // the size of 2^61 numbers overflows 64 bits
  other = good;
  other[20] = 1;
  expect_error([&] { read(other); }, ASR_BAD_FILE, "between sections");
}

}  // namespace
}  // namespace asr
