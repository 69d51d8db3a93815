// SPDX-License-Identifier: Apache-2.0
// Tests reading files whole and mapped, and checksums.
#include "core/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;
using test::spill;

TEST(ReadFile, GivesAllBytes) {
  const Scratch scratch;
  std::string bytes(200001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  spill(scratch / "f", bytes);
  EXPECT_EQ(read_file(scratch / "f"), bytes);
  spill(scratch / "empty", "");
  EXPECT_EQ(read_file(scratch / "empty"), "");
}

TEST(ReadFile, NamesWhatIsMissing) {
  const Scratch scratch;
  expect_error([&] { read_file(scratch / "none"); }, ASR_NOT_FOUND, scratch / "none");
  expect_error([&] { read_file(scratch.path()); }, ASR_IO, scratch.path());
}

TEST(ReadFile, RefusesTooManyBytesUnread) {
  const Scratch scratch;
  spill(scratch / "f", "12345");
  EXPECT_EQ(read_file(scratch / "f", 5), "12345");
  expect_error([&] { read_file(scratch / "f", 4); }, ASR_BAD_FILE, "f: has 5 bytes, but up to 4 are read");
  std::filesystem::resize_file(scratch / "f", uint64_t{1} << 42);  // more than could be read
  expect_error([&] { read_file(scratch / "f", 1 << 20); }, ASR_BAD_FILE, "up to 1048576 are read");
}

TEST(MappedFile, GivesAllBytesAndMoves) {
  const Scratch scratch;
  spill(scratch / "f", "abcdef");
  MappedFile first(scratch / "f");
  ASSERT_EQ(first.size(), 6u);
  const uint8_t *const data = first.data();
  MappedFile second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): tested
  MappedFile third;
  third = std::move(second);
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(third.data()), third.size()), "abcdef");
}

TEST(MappedFile, AllowsEmptyAndRefusesOthers) {
  const Scratch scratch;
  spill(scratch / "empty", "");
  const MappedFile empty(scratch / "empty");
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(empty.size(), 0u);
  expect_error([&] { MappedFile file(scratch / "none"); }, ASR_NOT_FOUND, scratch / "none");
  expect_error([&] { MappedFile file(scratch.path()); }, ASR_IO, "not a regular file");
}

// A pipe without a writer would block, and a device never ends.
TEST(Inputs, AreRegularFiles) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  for (const std::string &path : {scratch / "pipe", std::string("/dev/zero"), scratch.path()}) {
    expect_error([&] { read_file(path); }, ASR_IO, path + ": is not a regular file");
    expect_error([&] { sum_file(path); }, ASR_IO, "is not a regular file");
    expect_error([&] { FileCopy copy(path); }, ASR_IO, "is not a regular file");
    expect_error([&] { MappedFile file(path); }, ASR_IO, "is not a regular file");
  }
}

TEST(FileCopy, OutlivesItsFile) {
  const Scratch scratch;
  std::string bytes(100001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  spill(scratch / "f", bytes);
  FileCopy first(scratch / "f");
  std::filesystem::resize_file(scratch / "f", 0);
  FileCopy copy(std::move(first));
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): tested
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(copy.data()), copy.size()), bytes);
  copy.release();
  EXPECT_EQ(copy.size(), 0u);
  EXPECT_EQ(FileCopy(scratch / "f").data(), nullptr);  // empty now
  expect_error([&] { FileCopy none(scratch / "none"); }, ASR_NOT_FOUND, scratch / "none");
}

TEST(SumFile, IsTheChecksumOfTheWhole) {
  const Scratch scratch;
  for (const size_t size : {0, 1, 8, 13, (1 << 18) - 1, 1 << 18, (1 << 18) + 3, 1 << 19}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i >> 3);
    spill(scratch / "f", bytes);
    const FileSum sum = sum_file(scratch / "f");
    EXPECT_EQ(sum.size, size);
    EXPECT_EQ(sum.checksum, checksum(bytes.data(), size)) << size;
  }
}

// Every flip of one bit, and every flip of one bit in two words, changes the sum.
TEST(Checksum, SeesEveryFlippedBit) {
  std::string bytes(27, 'x');
  const uint64_t sum = checksum(bytes.data(), bytes.size());
  std::set<uint64_t> seen = {sum};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(seen.insert(checksum(flipped.data(), flipped.size())).second) << bit;
    flipped[(bit / 8 + 8) % 24] = static_cast<char>(flipped[(bit / 8 + 8) % 24] ^ (1 << bit % 8));
    EXPECT_NE(checksum(flipped.data(), flipped.size()), sum) << bit;
  }
}

// Bundles store the checksum: it must never change.
TEST(Checksum, HasItsStoredValues) {
  EXPECT_EQ(checksum(nullptr, 0), 0xcbf29ce484222325u);
  EXPECT_EQ(checksum("12345678abc", 11), 0x37f97a34d54c8cbdu);
}

}  // namespace
}  // namespace asr
