// SPDX-License-Identifier: Apache-2.0
// Copies of files that engines and processes share: the same memory for the same file, another for a file that was changed or
// replaced, and nothing that a change of the file reaches.
#include "core/base/shared_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

std::string_view text_of(const SharedCopy &copy) { return {reinterpret_cast<const char *>(copy.data()), copy.size()}; }

// Private and shared memory of the mapping at an address, in kB (/proc/self/smaps).
size_t kilobytes_of(const void *address, const std::string &name) {
  std::ifstream smaps("/proc/self/smaps");
  const std::string begin = format("%lx-", reinterpret_cast<unsigned long>(address));
  bool here = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') != std::string::npos && line.find(' ') > line.find('-')) here = line.rfind(begin, 0) == 0;
    if (here && line.rfind(name + ":", 0) == 0) return std::stoul(line.substr(name.size() + 1));
  }
  ADD_FAILURE() << "no mapping at " << begin;
  return 0;
}

// Files of this age are shared (kSettledSeconds).
constexpr auto kSettled = std::chrono::milliseconds(3100);

const std::string &text() {
  static const std::string all = std::string(300000, 'a') + "end";
  return all;
}

// Each test has a file of its own, old enough: all are made at once.
class SharedCopyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    files() = std::make_unique<Scratch>();
    for (int i = 0; i < kMostTests; ++i) spill(*files() / std::to_string(i), text());
    std::this_thread::sleep_for(kSettled);
  }
  static void TearDownTestSuite() { files().reset(); }
  void SetUp() override {
    static int n_taken = 0;
    ASSERT_LT(n_taken, kMostTests);
    path_ = *files() / std::to_string(n_taken++);
    ASSERT_EQ(setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1), 0);
  }
  void TearDown() override { unsetenv("XDG_RUNTIME_DIR"); }

  size_t n_links() const {
    const std::filesystem::path links = scratch_ / "senone";
    if (!std::filesystem::exists(links)) return 0;
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(links), {}));
  }

  const Scratch scratch_;
  std::string path_;

 private:
  static constexpr int kMostTests = 20;
  static std::unique_ptr<Scratch> &files() {
    static std::unique_ptr<Scratch> all;
    return all;
  }
};

TEST_F(SharedCopyTest, AYoungFileIsCopiedForEach) {
  spill(path_, text());
  const SharedCopy one(path_), other(path_);
  EXPECT_EQ(text_of(one), text());
  EXPECT_EQ(text_of(other), text());
  EXPECT_NE(one.data(), other.data());
  EXPECT_EQ(n_links(), 0u);
}

TEST_F(SharedCopyTest, OneCopyForEngines) {
  {
    const SharedCopy one(path_), other(path_);
    EXPECT_EQ(one.data(), other.data());
    EXPECT_EQ(text_of(one), text());
    EXPECT_EQ(n_links(), 1u);
  }
  EXPECT_EQ(n_links(), 0u);
}

TEST_F(SharedCopyTest, WhateverBecomesOfTheFile) {
  const SharedCopy copy(path_);
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(text_of(copy), text());
  spill(path_, std::string(text().size(), 'b'));
  EXPECT_EQ(text_of(copy), text());
  const SharedCopy later(path_);
  EXPECT_EQ(text_of(later)[0], 'b');
  EXPECT_EQ(text_of(copy), text());
}

TEST_F(SharedCopyTest, NobodyCanChangeIt) {
  const SharedCopy copy(path_);
  void *const page = const_cast<uint8_t *>(copy.data());
  EXPECT_NE(mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
  for (const auto &entry : std::filesystem::directory_iterator(scratch_ / "senone")) {
    EXPECT_NE(truncate(entry.path().c_str(), 0), 0) << entry.path();
    std::ofstream(entry.path()) << "x";
  }
  EXPECT_EQ(text_of(copy), text());
}

TEST_F(SharedCopyTest, OneCopyForProcesses) {
  int wait[2];
  ASSERT_EQ(pipe(wait), 0);
  const pid_t child = fork();
  if (child == 0) {
    const SharedCopy copy(path_);
    char byte = 'x';
    const bool told = write(wait[1], &byte, 1) == 1;
    pause();
    _exit(told ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(wait[0], &byte, 1), 1);
  EXPECT_EQ(n_links(), 1u);
  {
    const SharedCopy copy(path_);
    EXPECT_EQ(text_of(copy), text());
    EXPECT_GE(kilobytes_of(copy.data(), "Shared_Clean") + kilobytes_of(copy.data(), "Shared_Dirty"), text().size() / 1024);
    EXPECT_EQ(kilobytes_of(copy.data(), "Private_Clean") + kilobytes_of(copy.data(), "Private_Dirty"), 0u);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    EXPECT_EQ(text_of(copy), text());  // whoever made it has gone
  }
  EXPECT_EQ(n_links(), 1u);  // nobody removed it
  const SharedCopy copy(path_);
  EXPECT_EQ(text_of(copy), text());
  EXPECT_EQ(n_links(), 1u);
}

// Links that lead to anything but the copy: another file of the same size, nothing, a memfd of another file.
TEST_F(SharedCopyTest, LinksAreNotTrusted) {
  std::string key;
  {
    const SharedCopy copy(path_);
    key = std::filesystem::directory_iterator(scratch_ / "senone")->path().string();
  }
  const std::string forged = scratch_ / "forged";
  spill(forged, std::string(text().size(), 'x'));
  const int memory = memfd_create("graph-other", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(memory, static_cast<off_t>(text().size())), 0);
  ASSERT_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
  for (const std::string &target : {forged, scratch_ / "absent", format("/proc/%d/fd/%d", getpid(), memory)}) {
    std::filesystem::create_symlink(target, key);
    const SharedCopy copy(path_);
    EXPECT_EQ(text_of(copy), text()) << target;
  }
  close(memory);
}

TEST_F(SharedCopyTest, WithoutADirectoryOfTheUsers) {
  spill(scratch_ / "senone", "a file in its place");
  const SharedCopy one(path_), other(path_);
  EXPECT_EQ(text_of(one), text());
  EXPECT_EQ(one.data(), other.data());
}

TEST_F(SharedCopyTest, FilesThatCannotBeRead) {
  expect_error([&] { SharedCopy copy(scratch_ / "absent"); }, ASR_NOT_FOUND, "absent");
  expect_error([&] { SharedCopy copy(scratch_.path()); }, ASR_IO, "not a regular file");
  spill(scratch_ / "empty", "");
  EXPECT_EQ(SharedCopy(scratch_ / "empty").size(), 0u);
}

}  // namespace
}  // namespace asr::test
