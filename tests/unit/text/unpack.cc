// SPDX-License-Identifier: Apache-2.0
#include "builder/text/unpack.h"

#include "core/base/limits.h"
#include "tests/unit/scratch.h"
#include "tests/unit/text/packed.h"

namespace asr {
namespace {

using test::expect_error;

const std::vector<std::string (*)(const std::string &)> kPackers = {test::gzip, test::xz, test::bzip2};

std::string some_text(size_t n_bytes) {
  std::string text;
  for (uint32_t i = 0; text.size() < n_bytes; ++i) text += std::to_string(i * 2654435761u) + "\n";
  return text;
}

TEST(Unpack, ReturnsWhatWasPacked) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{70000}, size_t{1000000}}) {
    const std::string text = some_text(size);
    EXPECT_EQ(unpack(text, "plain"), text);
    for (const auto pack : kPackers) {
      EXPECT_EQ(unpack(pack(text), "file"), text) << size;
      EXPECT_EQ(unpack(pack(text) + pack("end\n"), "file"), text + "end\n") << size;
      EXPECT_EQ(unpack(pack(text) + std::string(512, '\0'), "file"), text) << size;
    }
  }
}

TEST(Unpack, SaysWhatIsTruncatedAndWhatIsDamaged) {
  const std::string text = some_text(100000);
  for (const auto pack : kPackers) {
    const std::string packed = pack(text);
    for (const size_t size : {packed.size() - 1, packed.size() / 2, packed.size() / 10}) {
      expect_error([&] { unpack(packed.substr(0, size), "file"); }, ASR_BAD_FILE, "ends too early: the file is truncated");
    }
    std::string damaged = packed;
    for (size_t i = packed.size() / 2; i < packed.size() / 2 + 20; ++i) damaged[i] = static_cast<char>(~damaged[i]);
    expect_error([&] { unpack(damaged, "file"); }, ASR_BAD_FILE, "data is damaged after byte");
    expect_error([&] { unpack(packed + "more", "file"); }, ASR_BAD_FILE, "has 4 bytes after its");
  }
}

TEST(Unpack, BombsAreRefused) {
  const std::string zeros(kBaseUnpackedBytes + 1, '\0');
  expect_error([&] { unpack(test::gzip(zeros), "file"); }, ASR_BAD_FILE, "unpacks to more than 200 times its");
  for (const auto pack : kPackers) {
    expect_error([&] { unpack(pack(std::string(2000, 'a')), "file", 1000); }, ASR_BAD_FILE, "unpacks to more than 1000 bytes");
  }
  EXPECT_EQ(unpack(test::gzip(zeros.substr(1)), "file").size(), kBaseUnpackedBytes);
}

TEST(Unpack, NoDamageCrashes) {
  for (const auto pack : kPackers) {
    const std::string packed = pack("a word\nand another\n");
    for (size_t at = 0; at < packed.size(); ++at) {
      for (const int bit : {1, 0x80}) {
        std::string damaged = packed;
        damaged[at] = static_cast<char>(damaged[at] ^ bit);
        test::outcome_of([&] { unpack(damaged, "file"); });
        test::outcome_of([&] { unpack(packed.substr(0, at), "file"); });
      }
    }
  }
}

}  // namespace
}  // namespace asr
