// SPDX-License-Identifier: Apache-2.0
// Tests the cache of compiled kernels: it returns the stored program, or nothing.
#include "plugins/ocl/runtime/program_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "tests/unit/scratch.h"

namespace asr::gpu {
namespace {

using namespace std::string_literals;

const std::string kKey = "device; driver 1.0\0-DN=1\0source"s, kBinary(5000, 'b');

class ProgramCacheTest : public testing::Test {
 protected:
  std::string file() const { return test::slurp(cache_.path(kKey)); }
  void set_file(const std::string &bytes) const { test::spill(cache_.path(kKey), bytes); }
  test::Scratch scratch_;
  const ProgramCache cache_{scratch_ / "new"};
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
  const ProgramCache moved(scratch_ / "new");
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
  const ProgramCache none(""), impossible("/dev/null");
  for (const ProgramCache &cache : {none, impossible}) {
    cache.store(kKey, kBinary);
    EXPECT_EQ(cache.load(kKey), "");
  }
}

TEST_F(ProgramCacheTest, AFileThatOthersMayWriteIsAbsentAndReplaced) {
  cache_.store(kKey, kBinary);
  std::filesystem::permissions(cache_.path(kKey), std::filesystem::perms(0666));
  EXPECT_EQ(cache_.load(kKey), "");
  std::filesystem::remove(cache_.path(kKey));
  cache_.store(kKey, kBinary);
  EXPECT_EQ(cache_.load(kKey), kBinary);
  EXPECT_EQ(std::filesystem::status(cache_.path(kKey)).permissions(), std::filesystem::perms(0600));
}

TEST_F(ProgramCacheTest, LinksAreAbsent) {
  cache_.store(kKey, kBinary);
  std::filesystem::rename(cache_.path(kKey), scratch_ / "elsewhere");
  std::filesystem::create_symlink(scratch_ / "elsewhere", cache_.path(kKey));
  EXPECT_EQ(cache_.load(kKey), "");
}

TEST_F(ProgramCacheTest, ADirectoryThatOthersMayWriteIsNotUsed) {
  cache_.store(kKey, kBinary);
  std::filesystem::permissions(scratch_ / "new/senone", std::filesystem::perms(0777));
  EXPECT_EQ(cache_.load(kKey), "");
  std::filesystem::remove(cache_.path(kKey));
  cache_.store(kKey, kBinary);
  EXPECT_FALSE(std::filesystem::exists(cache_.path(kKey)));
}

// Root with the HOME of another user (sudo -E): that user's links must not make root overwrite a file, nor that user's kernels
// be loaded.
TEST_F(ProgramCacheTest, TheCacheOfAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto give_away = [](const std::string &path) { ASSERT_EQ(lchown(path.c_str(), 65534, 65534), 0); };
  cache_.store(kKey, kBinary);
  give_away(cache_.path(kKey));
  give_away(scratch_ / "new/senone");
  give_away(scratch_ / "new");
  EXPECT_EQ(cache_.load(kKey), "") << "a kernel of another user";
  test::spill(scratch_ / "victim", "precious");
  std::filesystem::remove(cache_.path(kKey));
  std::filesystem::create_symlink(scratch_ / "victim", cache_.path(kKey));
  give_away(cache_.path(kKey));
  cache_.store(kKey, kBinary);
  EXPECT_EQ(test::slurp(scratch_ / "victim"), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(cache_.path(kKey)));
}

// Sets variables of the environment until the end of a test.
class Environment {
 public:
  Environment(const std::string &name, const char *value) : name_(name) {
    const char *const old = getenv(name.c_str());
    if (old != nullptr) old_ = old;
    value == nullptr ? unsetenv(name.c_str()) : setenv(name.c_str(), value, 1);
  }
  ~Environment() { old_ ? setenv(name_.c_str(), old_->c_str(), 1) : unsetenv(name_.c_str()); }

 private:
  const std::string name_;
  std::optional<std::string> old_;
};

TEST_F(ProgramCacheTest, LiesInTheHomeOfTheUserOnly) {
  std::filesystem::create_directory(scratch_ / "home");
  const Environment cache("XDG_CACHE_HOME", nullptr), home("HOME", (scratch_ / "home").c_str());
  if (geteuid() == 0) {
    ASSERT_EQ(chown((scratch_ / "home").c_str(), 65534, 65534), 0);
    ProgramCache().store(kKey, kBinary);
    EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "home"));
    ASSERT_EQ(chown((scratch_ / "home").c_str(), 0, 0), 0);
  }
  ProgramCache().store(kKey, kBinary);
  EXPECT_EQ(ProgramCache().load(kKey), kBinary);
  const Environment absent("HOME", (scratch_ / "absent").c_str());
  ProgramCache().store(kKey, kBinary);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "absent"));
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
}  // namespace asr::gpu
