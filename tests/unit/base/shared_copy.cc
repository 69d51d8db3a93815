// SPDX-License-Identifier: Apache-2.0
// Tests copies of files shared by engines and processes: the same memory for the same file, another for a changed or replaced
// file. Changes of the file must not reach a copy.
#include "core/base/shared_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string_view>
#include <thread>

#include "core/base/build_id.h"
#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

std::string_view text_of(const SharedCopy &copy) { return {reinterpret_cast<const char *>(copy.data()), copy.size()}; }

// Returns private and shared memory of the mapping at an address, in kB (/proc/self/smaps).
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

const std::string &text() {
  static const std::string all = std::string(300000, 'a') + "end";
  return all;
}

void accept(const uint8_t *, size_t) {}
void never(const uint8_t *, size_t) { ADD_FAILURE() << "was not checked before"; }

void never_again(const uint8_t *, size_t) { ADD_FAILURE() << "counts as checked before"; }

SharedCopy copy_of(const std::string &path, const std::string &content = "text", const SharedCopy::Check &check = accept,
                   const SharedCopy::Check &recheck = never_again) {
  return SharedCopy(InputFile(path), content, check, recheck);
}

// Runs the action in a child that ends after 30 s at most; it must return 0.
void in_a_child(const std::function<int()> &action) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(action());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "wrong");
}

// A thread that begins a copy and continues on request, or when the object is destroyed.
class SlowCopy {
 public:
  explicit SlowCopy(const std::string &path) {
    copy_ = std::async(std::launch::async, [this, path] {
      return copy_of(path, "text", [this](const uint8_t *, size_t) {
        begun_.set_value();
        go_on_.get_future().wait();
      });
    });
    begun_.get_future().wait();
  }
  ~SlowCopy() {
    if (copy_.valid()) finish();
  }
  SharedCopy finish() {
    go_on_.set_value();
    return copy_.get();
  }

 private:
  std::promise<void> begun_, go_on_;
  std::future<SharedCopy> copy_;
};

// A child process that makes a copy and keeps it until the object is destroyed.
class OtherProcess {
 public:
  OtherProcess(const std::string &path, const SharedCopy::Check &check, bool is_done = true) {
    int told[2];
    if (pipe(told) != 0) abort();
    const auto tell = [&] {
      if (write(told[1], "x", 1) != 1) _exit(1);
    };
    child_ = fork();
    if (child_ == 0) {
      alarm(60);
      [[maybe_unused]] const SharedCopy copy = copy_of(path, "text", [&](const uint8_t *data, size_t size) {
        if (!is_done) tell();
        check(data, size);
      });
      if (is_done) tell();
      pause();
      _exit(0);
    }
    char byte;
    EXPECT_EQ(read(told[0], &byte, 1), 1);
    close(told[0]);
    close(told[1]);
  }
  ~OtherProcess() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_;
};

class SharedCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    spill(path_, text());
    ASSERT_EQ(setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1), 0);
  }
  void TearDown() override { unsetenv("XDG_RUNTIME_DIR"); }

  std::vector<std::string> links() const {
    std::vector<std::string> all;
    const std::filesystem::path directory = scratch_ / "senone";
    if (!std::filesystem::exists(directory)) return all;
    for (const auto &entry : std::filesystem::directory_iterator(directory)) {
      if (entry.is_symlink()) all.push_back(entry.path());
    }
    return all;
  }
  size_t n_links() const { return links().size(); }
  // Returns the link under which a copy of the file is published.
  std::string link() const {
    const SharedCopy copy = copy_of(path_);
    return links().at(0);
  }

  const Scratch scratch_;
  const std::string path_ = scratch_ / "file";
};

TEST_F(SharedCopyTest, OneCopyForEngines) {
  {
    const SharedCopy one = copy_of(path_), other = copy_of(path_, "text", never);
    EXPECT_EQ(one.data(), other.data());
    EXPECT_EQ(text_of(one), text());
    EXPECT_EQ(n_links(), 1u);
  }
  EXPECT_EQ(n_links(), 0u);
}

TEST_F(SharedCopyTest, WithoutItsContentACopyIsOnesOwn) {
  const SharedCopy shared = copy_of(path_), own(InputFile(path_), accept);
  EXPECT_EQ(text_of(own), text());
  EXPECT_NE(own.data(), shared.data());
}

// Device, inode, size and times may equal those of another file, for example in an image mounted there before.
TEST_F(SharedCopyTest, OtherContentIsAnotherCopy) {
  bool is_checked = false;
  const SharedCopy one = copy_of(path_);
  const SharedCopy other = copy_of(path_, "other", [&](const uint8_t *, size_t) { is_checked = true; });
  EXPECT_TRUE(is_checked);
  EXPECT_NE(one.data(), other.data());
  EXPECT_EQ(n_links(), 2u);
}

TEST_F(SharedCopyTest, NothingIsKeptOfThoseReleased) {
  const auto make = [&](int n) { copy_of(path_, "version " + std::to_string(n)); };
  for (int n = 0; n < 100; ++n) make(n);
  const size_t before = mallinfo2().uordblks;
  for (int n = 100; n < 1100; ++n) make(n);
  EXPECT_LT(mallinfo2().uordblks, before + 100000);
}

TEST_F(SharedCopyTest, WhatIsRefusedIsNotShared) {
  const auto refuse = [](const uint8_t *, size_t) { fail(ASR_BAD_FILE, "refused"); };
  expect_error([&] { copy_of(path_, "text", refuse); }, ASR_BAD_FILE, "refused");
  EXPECT_EQ(n_links(), 0u);
  bool is_checked = false;
  copy_of(path_, "text", [&](const uint8_t *, size_t) { is_checked = true; });
  EXPECT_TRUE(is_checked);
}

TEST_F(SharedCopyTest, WhateverBecomesOfTheFile) {
  const SharedCopy copy = copy_of(path_);
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(text_of(copy), text());
  spill(path_, std::string(text().size(), 'b'));
  EXPECT_EQ(text_of(copy), text());
  const SharedCopy later = copy_of(path_, "later");
  EXPECT_EQ(text_of(later)[0], 'b');
  EXPECT_EQ(text_of(copy), text());
}

TEST_F(SharedCopyTest, NobodyCanChangeIt) {
  const SharedCopy copy = copy_of(path_);
  void *const page = const_cast<uint8_t *>(copy.data());
  EXPECT_NE(mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
  ASSERT_EQ(n_links(), 1u);
  const std::string link = links()[0];
  EXPECT_NE(truncate(link.c_str(), 0), 0);
  std::ofstream(link) << "x";
  EXPECT_EQ(text_of(copy), text());
}

TEST_F(SharedCopyTest, OneCopyForProcesses) {
  {
    auto other = std::make_unique<OtherProcess>(path_, accept);
    EXPECT_EQ(n_links(), 1u);
    const SharedCopy copy = copy_of(path_, "text", never);
    EXPECT_EQ(text_of(copy), text());
    EXPECT_GE(kilobytes_of(copy.data(), "Shared_Clean") + kilobytes_of(copy.data(), "Shared_Dirty"), text().size() / 1024);
    EXPECT_EQ(kilobytes_of(copy.data(), "Private_Clean") + kilobytes_of(copy.data(), "Private_Dirty"), 0u);
    other.reset();
    EXPECT_EQ(text_of(copy), text());  // the publishing process has ended
  }
  EXPECT_EQ(n_links(), 1u);  // the link is still there
  const SharedCopy copy = copy_of(path_);
  EXPECT_EQ(text_of(copy), text());
  EXPECT_EQ(n_links(), 1u);
}

TEST_F(SharedCopyTest, ProcessesThatBeginTogetherShare) {
  const OtherProcess other(
      path_, [](const uint8_t *, size_t) { usleep(300000); }, false);
  const SharedCopy copy = copy_of(path_, "text", never);
  EXPECT_EQ(text_of(copy), text());
}

TEST_F(SharedCopyTest, NoProcessIsWaitedForLong) {
  const OtherProcess other(
      path_, [](const uint8_t *, size_t) { pause(); }, false);
  in_a_child([&] { return text_of(copy_of(path_)) == text() ? 0 : 1; });
}

TEST_F(SharedCopyTest, ThreadsThatBeginTogetherShare) {
  SlowCopy slow(path_);
  auto other = std::async(std::launch::async, [&] { return copy_of(path_, "text", never); });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  const SharedCopy copy = slow.finish();
  EXPECT_EQ(other.get().data(), copy.data());
}

TEST_F(SharedCopyTest, ASlowFileDelaysNoOther) {
  spill(scratch_ / "other", text());
  auto slow = std::make_unique<SlowCopy>(path_);
  auto other = std::async(std::launch::async, [&] { return copy_of(scratch_ / "other"); });
  EXPECT_EQ(other.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  slow.reset();
  EXPECT_EQ(text_of(other.get()), text());
}

// The thread that makes a copy does not exist in the child.
TEST_F(SharedCopyTest, AChildOfForkWaitsForNoThread) {
  spill(scratch_ / "other", text());
  spill(scratch_ / "senone", "no directory, and so no lock of the parent's process");
  const SlowCopy slow(path_);
  in_a_child([&] { return text_of(copy_of(path_)) == text() && text_of(copy_of(scratch_ / "other")) == text() ? 0 : 1; });
}

TEST_F(SharedCopyTest, ALimitOfFilesEndsNoProcess) {
  in_a_child([&] {
    const rlimit limit{50 << 10, 50 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    const SharedCopy one = copy_of(path_), other = copy_of(path_);
    return text_of(one) == text() && one.data() == other.data() && n_links() == 0 ? 0 : 2;
  });
}

// Tests the note of a file that passed the whole check: which files get one, and which checks are repeated.
class PassedNotes : public SharedCopyTest {
 protected:
  enum Checks { kNone, kWhole, kAgain };

  // Makes a copy and releases it; returns which check it got.
  Checks checks(const std::string &content = "text") const {
    Checks made = kNone;
    copy_of(
        path_, content, [&](const uint8_t *, size_t) { made = kWhole; }, [&](const uint8_t *, size_t) { made = kAgain; });
    return made;
  }
  // Waits until the file's times are old enough for a note.
  static void let_times_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(3100)); }
  size_t n_notes() const {
    size_t n = 0;
    for (const auto &entry : std::filesystem::directory_iterator(scratch_ / "senone")) {
      if (entry.path().extension() == ".passed") ++n;
    }
    return n;
  }
};

TEST_F(PassedNotes, TheWholeCheckIsMadeOnce) {
  EXPECT_EQ(checks(), kWhole);
  EXPECT_EQ(checks(), kWhole) << "the file is too young";
  let_times_pass();
  EXPECT_EQ(checks(), kWhole);
  EXPECT_EQ(checks(), kAgain);
  EXPECT_EQ(checks("other"), kWhole);
  in_a_child([&] { return checks() == kAgain ? 0 : 1; });
  const auto refuse = [](const uint8_t *, size_t) { fail(ASR_BAD_FILE, "another checksum"); };
  expect_error([&] { copy_of(path_, "text", never, refuse); }, ASR_BAD_FILE, "another checksum");
  std::ofstream(path_, std::ios::app) << "x";
  EXPECT_EQ(checks(), kWhole) << "the file has changed";
}

TEST_F(PassedNotes, NotForFilesThatOthersWrite) {
  std::filesystem::permissions(path_, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  let_times_pass();
  for (int n = 0; n < 2; ++n) EXPECT_EQ(checks(), kWhole);
  EXPECT_EQ(n_notes(), 0u);
}

// Mounts a file system without setuid programs over the scratch directory, in a namespace of a child's own.
TEST_F(PassedNotes, NotInFileSystemsOfOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
  in_a_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 0;
    if (mount("tmpfs", scratch_.path().c_str(), "tmpfs", MS_NOSUID, "mode=700") != 0) return 0;
    spill(path_, text());
    let_times_pass();
    for (int n = 0; n < 2; ++n) {
      if (checks() != kWhole) return 1;
    }
    return n_notes() == 0 ? 0 : 2;
  });
}

// Runs in a copy of this program with another build id; see below.
TEST(OtherBuild, DISABLED_MakesACopy) {
  bool is_checked = false;
  copy_of(
      getenv("SENONE_TEST_FILE"), "text", [&](const uint8_t *, size_t) { is_checked = true; }, accept);
  exit(is_checked ? 10 : 11);
}

// Another build of the library may check less: neither its copies nor its notes count.
TEST_F(PassedNotes, NotFromAnotherBuild) {
  if (SENONE_EMULATOR[0] != '\0') GTEST_SKIP() << "the program runs in an emulator";
  let_times_pass();
  EXPECT_EQ(checks(), kWhole);
  ASSERT_EQ(n_notes(), 1u);
  const SharedCopy kept = copy_of(path_, "text", never, accept);
  std::string program = slurp("/proc/self/exe"), id;
  for (size_t i = 0; i < build_id().size(); i += 2) {
    id += static_cast<char>(std::stoi(build_id().substr(i, 2), nullptr, 16));
  }
  const size_t at = program.find(id);
  ASSERT_NE(at, std::string::npos);
  const auto outcome_of_program = [&](const std::string &name) {
    spill(scratch_ / name, program);
    std::filesystem::permissions(scratch_ / name, std::filesystem::perms(0700));
    setenv("SENONE_TEST_FILE", path_.c_str(), 1);
    const std::string options = " --gtest_also_run_disabled_tests --gtest_filter=OtherBuild.* >/dev/null";
    const int status = system((scratch_ / name + options).c_str());
    unsetenv("SENONE_TEST_FILE");
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(outcome_of_program("same"), 11);
  program[at] = static_cast<char>(program[at] ^ 1);
  EXPECT_EQ(outcome_of_program("other"), 10);
}

TEST_F(PassedNotes, NotARefusedFileAndNotTooMany) {
  let_times_pass();
  const auto refuse = [](const uint8_t *, size_t) { fail(ASR_BAD_FILE, "refused"); };
  expect_error([&] { copy_of(path_, "text", refuse); }, ASR_BAD_FILE, "refused");
  EXPECT_EQ(n_notes(), 0u);
  for (int n = 0; n < 200; ++n) checks("version " + std::to_string(n));
  EXPECT_LE(n_notes(), 64u);
  EXPECT_EQ(checks("version 199"), kAgain);
}

int memory_of(const std::string &name, size_t size, int seals) {
  const int memory = memfd_create(name.c_str(), MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(memory, static_cast<off_t>(size)), 0);
  EXPECT_EQ(fcntl(memory, F_ADD_SEALS, seals), 0);
  return memory;
}

// Links that lead to anything but the copy.
TEST_F(SharedCopyTest, LinksAreNotTrusted) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const std::string link = this->link(), key = std::filesystem::path(link).filename();
  const std::string forged = scratch_ / "forged";
  spill(forged, std::string(text().size(), 'x'));
  const size_t size = text().size();
  std::vector<int> memories = {memory_of("graph-other", size, kSeals), memory_of(key, size, F_SEAL_SHRINK | F_SEAL_GROW),
                               memory_of(key, size + 1, kSeals)};
  if (geteuid() == 0) {
    memories.push_back(memory_of(key, size, kSeals));
    ASSERT_EQ(fchown(memories.back(), 1, 1), 0);
  }
  std::vector<std::string> targets = {forged, scratch_ / "absent"};
  for (const int memory : memories) targets.push_back(format("/proc/%d/fd/%d", getpid(), memory));
  for (const std::string &target : targets) {
    std::filesystem::create_symlink(target, link);
    EXPECT_EQ(text_of(copy_of(path_)), text()) << target;
  }
  for (const int memory : memories) close(memory);
}

// A process without a terminal would acquire one by opening it.
TEST_F(SharedCopyTest, AStaleLinkMakesNoTerminalOnesOwn) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) GTEST_SKIP() << "no pseudo-terminals here";
  std::filesystem::create_symlink(ptsname(terminal), link());
  in_a_child([&] {
    if (setsid() < 0 || text_of(copy_of(path_)) != text()) return 1;
    return open("/dev/tty", O_RDWR) < 0 ? 0 : 2;
  });
  close(terminal);
}

TEST_F(SharedCopyTest, AStaleLinkLetsNoWriterGoOn) {
  const std::string pipe = scratch_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, link());
  auto writer = std::async(std::launch::async, [&] { return open(pipe.c_str(), O_WRONLY | O_CLOEXEC); });
  EXPECT_EQ(writer.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  EXPECT_EQ(text_of(copy_of(path_)), text());
  EXPECT_EQ(writer.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  close(writer.get());
  close(reader);
}

TEST_F(SharedCopyTest, ALinkThatCannotBeMadeLeavesNothing) {
  std::filesystem::create_directory(link());
  EXPECT_EQ(text_of(copy_of(path_)), text());
  EXPECT_EQ(n_links(), 0u);
}

TEST_F(SharedCopyTest, WithoutADirectoryOfTheUsers) {
  spill(scratch_ / "senone", "a file in its place");
  const SharedCopy one = copy_of(path_), other = copy_of(path_);
  EXPECT_EQ(text_of(one), text());
  EXPECT_EQ(one.data(), other.data());
}

// For example the directory of the user who became root.
TEST_F(SharedCopyTest, ADirectoryOfAnotherUserStaysAsItIs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(chown(scratch_.path().c_str(), 1, 1), 0);
  EXPECT_EQ(text_of(copy_of(path_)), text());
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "senone"));
}

// In a container, files of users whom it lacks look like nobody's.
TEST_F(SharedCopyTest, NobodySharesNothing) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  ASSERT_EQ(chown(scratch_.path().c_str(), kNobody, kNobody), 0);
  in_a_child([&] {
    if (setresuid(kNobody, kNobody, kNobody) != 0) return 1;
    const bool is_whole = text_of(copy_of(path_)) == text();
    return is_whole && !std::filesystem::exists(scratch_ / "senone") ? 0 : 2;
  });
}

// As for a program that has changed its effective user.
TEST_F(SharedCopyTest, NothingButDanglingLinksIsRemoved) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change its user";
  ASSERT_EQ(chown(scratch_.path().c_str(), 1, 1), 0);
  in_a_child([&] {
    if (setresuid(2, 1, 0) != 0 || mkdir((scratch_ / "senone").c_str(), 0700) != 0) return 1;
    spill(scratch_ / "senone/kept", "");
    if (symlink("/proc/0/fd/0", (scratch_ / "senone/dangling").c_str()) != 0) return 2;
    const SharedCopy copy = copy_of(path_);
    struct stat s {};
    const bool is_kept = lstat((scratch_ / "senone/kept").c_str(), &s) == 0;
    return is_kept && lstat((scratch_ / "senone/dangling").c_str(), &s) != 0 ? 0 : 3;
  });
}

TEST_F(SharedCopyTest, FilesThatCannotBeRead) {
  expect_error([&] { copy_of(scratch_ / "absent"); }, ASR_NOT_FOUND, "absent");
  expect_error([&] { copy_of(scratch_.path()); }, ASR_IO, "not a regular file");
  spill(scratch_ / "empty", "");
  EXPECT_EQ(copy_of(scratch_ / "empty").size(), 0u);
}

}  // namespace
}  // namespace asr::test
