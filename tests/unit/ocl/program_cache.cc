// SPDX-License-Identifier: Apache-2.0
// Tests the cache of compiled kernels: it returns the stored program, or nothing.
#include "plugins/common/ocl/program_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/unit/scratch.h"

namespace asr::ocl {
namespace {

using namespace std::string_literals;

const std::string kKey = "device; driver 1.0\0-DN=1\0source"s, kBinary(5000, 'b');

class ProgramCacheTest : public testing::Test {
 protected:
  std::string file() const { return test::slurp(cache_.path(kKey)); }
  void set_file(const std::string &bytes) const { test::spill(cache_.path(kKey), bytes); }
  test::Scratch scratch_;
  const ProgramCache cache_{(scratch_ / "new/senone")};
};

TEST_F(ProgramCacheTest, GivesBackWhatWasStored) {
  EXPECT_EQ(cache_.load(kKey), "");
  cache_.store(kKey, kBinary);
  EXPECT_EQ(cache_.load(kKey), kBinary);
  cache_.store(kKey, "other");
  EXPECT_EQ(cache_.load(kKey), "other");
}

TEST_F(ProgramCacheTest, OtherKeysAreAbsent) {
  cache_.store(kKey, kBinary);
  EXPECT_EQ(cache_.load(kKey + "x"), "");
  const ProgramCache moved((scratch_ / "new/senone"));
  std::filesystem::copy_file(cache_.path(kKey), cache_.path("another key of this name"));
  EXPECT_EQ(moved.load("another key of this name"), "");
}

TEST_F(ProgramCacheTest, DamagedFilesAreAbsentAndReplaced) {
  cache_.store(kKey, kBinary);
  const std::string whole = file();
  for (size_t at = 0; at < whole.size(); at += at < 80 ? 1 : 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    set_file(damaged);
    ASSERT_EQ(cache_.load(kKey), "") << "byte " << at;
  }
  cache_.store(kKey, kBinary);
  EXPECT_EQ(cache_.load(kKey), kBinary);
}

TEST_F(ProgramCacheTest, FilesCutShortOrTooLongAreAbsent) {
  cache_.store(kKey, kBinary);
  const std::string whole = file();
  for (size_t size = 0; size < whole.size(); size += 41) {
    set_file(whole.substr(0, size));
    ASSERT_EQ(cache_.load(kKey), "") << size << " bytes";
  }
  set_file(whole + '\0');
  EXPECT_EQ(cache_.load(kKey), "");
}

TEST_F(ProgramCacheTest, NoDirectoryIsNoError) {
  const ProgramCache none(""), impossible("/dev/null/senone");
  for (const ProgramCache &cache : {none, impossible}) {
    cache.store(kKey, kBinary);
    EXPECT_EQ(cache.load(kKey), "");
  }
}

TEST_F(ProgramCacheTest, ConcurrentWritersAndReaders) {
  std::vector<std::thread> threads;
  std::atomic<int> n_wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string mine(10000 + size_t{1000} * t, static_cast<char>('a' + t));
      for (int i = 0; i < 50; ++i) {
        cache_.store(kKey, mine);
        const std::string found = cache_.load(kKey);
        const bool right = !found.empty() && found == std::string(10000 + size_t{1000} * (found[0] - 'a'), found[0]);
        n_wrong += right ? 0 : 1;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(n_wrong, 0);
  size_t n_files = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator((scratch_ / "new/senone"))) ++n_files;
  EXPECT_EQ(n_files, 1u);
}

}  // namespace
}  // namespace asr::ocl
