// SPDX-License-Identifier: Apache-2.0
// Tests that outputs appear complete or not at all, also when the disk is full.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "core/base/file.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::outcome_of;
using test::Scratch;
using test::slurp;
using test::spill;

TEST(OutputFile, AppearsOnCommit) {
  const Scratch scratch;
  OutputFile file(scratch / "f");
  file.write("abc");
  EXPECT_FALSE(fs::exists(scratch / "f"));
  file.pad_to(8);
  EXPECT_EQ(file.position(), 8u);
  file.write("d");
  file.commit();
  EXPECT_EQ(slurp(scratch / "f"), std::string("abc\0\0\0\0\0d", 9));
  EXPECT_EQ(scratch.n_entries(), 1u);
}

TEST(OutputFile, LeavesTheOldOneWithoutCommit) {
  const Scratch scratch;
  spill(scratch / "f", "old");
  {
    OutputFile file(scratch / "f");
    file.write(std::string(1 << 20, 'x'));
  }
  EXPECT_EQ(slurp(scratch / "f"), "old");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

TEST(OutputFile, ReplacesTheFileBehindALink) {
  const Scratch scratch;
  spill(scratch / "f", "old");
  fs::create_symlink(scratch / "f", scratch / "link");
  OutputFile file(scratch / "link");
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(slurp(scratch / "f"), "new");
}

TEST(OutputFile, MakesTheFileThatALinkNames) {
  const Scratch scratch;
  fs::create_directory(scratch / "sub");
  fs::create_symlink("sub/second", scratch / "link");
  fs::create_symlink(scratch / "f", scratch / "sub/second");
  OutputFile file(scratch / "link");
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_TRUE(fs::is_symlink(scratch / "sub/second"));
  EXPECT_EQ(slurp(scratch / "f"), "new");
  fs::create_symlink("loop", scratch / "loop");
  expect_error([&] { OutputFile endless(scratch / "loop"); }, ASR_IO, "cannot be created");
  EXPECT_TRUE(fs::is_symlink(scratch / "loop"));
}

TEST(OutputFile, KeepsModeAndOwner) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  spill(path, "old");
  fs::permissions(path, fs::perms(0600));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  }
  OutputFile file(path);
  file.write("new");
  file.commit();
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_uid, geteuid() == 0 ? 65534 : geteuid());
  EXPECT_EQ(slurp(path), "new");
}

TEST(OutputFile, NamesWhatCannotBeMade) {
  const Scratch scratch;
  expect_error([&] { OutputFile file(scratch / "none/f"); }, ASR_NOT_FOUND, scratch / "none/f");
  expect_error([&] { OutputFile file(scratch.path()); }, ASR_IO, "is a directory");
}

TEST(OutputFile, ReportsAFullDevice) {
  expect_error(
      [] {
        OutputFile file("/dev/full");
        file.write("abc");
        file.commit();
      },
      ASR_IO, "free some space");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

// Runs `body` in a child process and returns its exit code.
template <typename Body>
int in_child(Body &&body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Writes a bundle under a file size limit of 100 kB: an error, and nothing of it may remain.
TEST(OutputDirectory, LeavesNothingWhenAFileCannotGrow) {
  const Scratch scratch;
  const int code = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto outcome = outcome_of([&] {
      OutputDirectory directory(scratch / "bundle");
      OutputFile file(directory.file("big"));
      file.write(std::string(1 << 20, 'x'));
      file.commit();
      directory.commit();
    });
    return outcome.code == ASR_IO && outcome.message.find("big") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(scratch.n_entries(), 0u);
}

TEST(OutputDirectory, LeavesNothingOnAFullDisk) {
  const Scratch scratch;
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here: " << strerror(errno);
  }
  expect_error(
      [&] {
        OutputDirectory directory(scratch / "bundle");
        OutputFile file(directory.file("big"));
        file.write(std::string(1 << 20, 'x'));
        file.commit();
        directory.commit();
      },
      ASR_IO, "free some space");
  const size_t n_left = scratch.n_entries();
  umount(scratch.path().c_str());
  EXPECT_EQ(n_left, 0u);
}

TEST(OutputDirectory, AppearsOnCommit) {
  const Scratch scratch;
  {
    OutputDirectory directory(scratch / "bundle/");
    spill(directory.file("a"), "1");
    EXPECT_FALSE(fs::exists(scratch / "bundle"));
    directory.commit();
  }
  EXPECT_EQ(slurp(scratch / "bundle/a"), "1");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

TEST(OutputDirectory, ReplacesABundleFileByFile) {
  const Scratch scratch;
  fs::create_directory(scratch / "bundle");
  spill(scratch / "bundle/senone.json", "old");
  spill(scratch / "bundle/kept", "kept");
  OutputDirectory directory(scratch / "bundle");
  spill(directory.file("senone.json"), "new");
  EXPECT_EQ(slurp(scratch / "bundle/senone.json"), "old");
  directory.commit();
  EXPECT_EQ(slurp(scratch / "bundle/senone.json"), "new");
  EXPECT_EQ(slurp(scratch / "bundle/kept"), "kept");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

TEST(OutputDirectory, RefusesWhatIsNoBundle) {
  const Scratch scratch;
  spill(scratch / "file", "x");
  expect_error([&] { OutputDirectory directory(scratch / "file"); }, ASR_IO, "not a directory");
  expect_error([&] { OutputDirectory directory(scratch.path()); }, ASR_IO, "not a bundle");
  expect_error([&] { OutputDirectory directory(scratch / "none/bundle"); }, ASR_NOT_FOUND, scratch / "none/bundle");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

// Runs in a child, since the process cannot finish outputs afterwards.
TEST(UnfinishedOutputs, AreRemovedAndNoneAppears) {
  const Scratch scratch;
  spill(scratch / "old", "old");
  const pid_t child = fork();
  if (child == 0) {
    OutputFile file(scratch / "file"), replacing(scratch / "old"), done(scratch / "done");
    OutputDirectory directory(scratch / "directory");
    OutputFile inside(directory.file("part"));
    spill(directory.file("copied"), "bytes that no OutputFile wrote");
    done.write("done");
    done.commit();
    if (scratch.n_entries() != 5) _exit(1);
    remove_unfinished_outputs();
    std::thread([&] { file.commit(); }).detach();
    std::thread([&] { directory.commit(); }).detach();
    usleep(100000);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(slurp(scratch / "old"), "old");
  EXPECT_EQ(slurp(scratch / "done"), "done");
  EXPECT_EQ(scratch.n_entries(), 2u);
}

}  // namespace
}  // namespace asr
