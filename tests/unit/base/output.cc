// SPDX-License-Identifier: Apache-2.0
// Tests that outputs appear complete or not at all, also when the disk is full.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
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

struct stat status_of(const std::string &path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

void put(const FileAt &place, const std::string &text) {
  OutputFile file(place);
  file.write(text);
  file.commit();
}

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

// Replaces a file by a new one, and returns its status.
struct stat replaced(const std::string &path) {
  OutputFile file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(slurp(path), "new");
  return status_of(path);
}

TEST(OutputFile, KeepsThePermissionsOfTheUsersOwnFile) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  for (const mode_t mode : {0600, 0640, 0666}) {
    spill(path, "old");
    fs::permissions(path, fs::perms(mode));
    EXPECT_EQ(replaced(path).st_mode & 07777, mode);
  }
}

// Whoever may write to the directory may choose the file that is replaced, but not the permissions of the new one.
TEST(OutputFile, NeverOpensAFileToMoreUsers) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  const mode_t umask_before = umask(027);
  fs::permissions(scratch.path(), fs::perms(0777));
  for (const auto &[older, expected] : {std::pair(0666, 0640), std::pair(0604, 0600), std::pair(0640, 0640)}) {
    spill(path, "old");
    fs::permissions(path, fs::perms(older));
    EXPECT_EQ(replaced(path).st_mode & 07777, static_cast<mode_t>(expected));
  }
  umask(umask_before);
}

// Whoever opens a file that is narrowed later reads all that is written to it. Narrowing would be an event.
TEST(OutputFile, IsNarrowFromTheBeginning) {
  const Scratch scratch;
  spill(scratch / "f", "old");
  fs::permissions(scratch / "f", fs::perms(0600));
  const Descriptor events(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(events.get(), scratch.path().c_str(), IN_ATTRIB), 0);
  EXPECT_EQ(replaced(scratch / "f").st_mode & 0777, 0600u);
  char event[512];
  EXPECT_LT(read(events.get(), event, sizeof(event)), 0) << "its permissions were changed";
}

TEST(OutputFile, NeverTakesAnOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const Scratch scratch;
  const std::string path = scratch / "f";
  spill(path, "old");
  fs::permissions(path, fs::perms(0666));
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  const struct stat status = replaced(path);
  EXPECT_EQ(status.st_uid, geteuid());
  EXPECT_EQ(status.st_gid, getegid());
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

// Between two steps somebody else exchanges the directory of the output.
TEST(OutputFile, StaysInItsDirectory) {
  const Scratch scratch;
  fs::create_directory(scratch / "work");
  fs::create_directory(scratch / "other");
  spill(scratch / "other/f", "precious");
  OutputFile file(scratch / "work/f");
  file.write("new");
  fs::rename(scratch / "work", scratch / "moved");
  fs::create_directory_symlink(scratch / "other", scratch / "work");
  file.commit();
  EXPECT_EQ(slurp(scratch / "other/f"), "precious");
  EXPECT_EQ(slurp(scratch / "moved/f"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch / "other"), fs::directory_iterator()), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch / "moved"), fs::directory_iterator()), 1);
}

TEST(OutputFile, FollowsNoLinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  const Scratch scratch;
  spill(scratch / "f", "precious");
  fs::create_symlink("f", scratch / "link");
  ASSERT_EQ(lchown((scratch / "link").c_str(), 65534, 65534), 0);
  expect_error([&] { OutputFile file(scratch / "link"); }, ASR_IO, "is a symbolic link of user 65534, which is not followed");
  expect_error([&] { OutputDirectory directory(scratch / "link"); }, ASR_IO, "is a symbolic link of user 65534");
  EXPECT_EQ(slurp(scratch / "f"), "precious");
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

// The link of a process's descriptor leads to a pipe by a name that is no path.
TEST(OutputFile, WritesToThePipeOfADescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OutputFile file("/proc/self/fd/" + std::to_string(ends[1]));
  file.write("abc");
  file.commit();
  char bytes[4] = {};
  EXPECT_EQ(read(ends[0], bytes, sizeof(bytes)), 3);
  EXPECT_STREQ(bytes, "abc");
  for (const int end : ends) close(end);
}

void append_to_descriptor(const std::string &path) {
  OutputFile file(path);
  file.write("new\n");
  file.commit();
}

// The text of a descriptor's link is the path that its file had once: nothing is renamed to it.
TEST(OutputFile, WritesToTheFileOfADescriptor) {
  const Scratch scratch;
  for (const bool is_removed : {false, true}) {
    const std::string path = scratch / "log";
    const Descriptor log(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_EQ(write(log.get(), "older\n", 6), 6);
    if (is_removed) fs::remove(path);
    append_to_descriptor("/dev/fd/" + std::to_string(log.get()));
    EXPECT_EQ(lseek(log.get(), 0, SEEK_CUR), 10) << "the position is shared";
    append_to_descriptor("/proc/self/fd/" + std::to_string(log.get()));
    ASSERT_EQ(write(log.get(), "last\n", 5), 5);
    char text[32] = {};
    EXPECT_EQ(pread(log.get(), text, sizeof(text), 0), 19);
    EXPECT_STREQ(text, "older\nnew\nnew\nlast\n");
    EXPECT_EQ(scratch.n_entries(), is_removed ? 0u : 1u);
  }
}

TEST(OutputFile, WritesToMemoryWithoutAName) {
  const Descriptor memory(memfd_create("senone-test", MFD_CLOEXEC));
  ASSERT_GE(memory.get(), 0);
  append_to_descriptor("/dev/fd/" + std::to_string(memory.get()));
  char text[8] = {};
  EXPECT_EQ(pread(memory.get(), text, sizeof(text), 0), 4);
  EXPECT_STREQ(text, "new\n");
  EXPECT_FALSE(fs::exists("/memfd:senone-test (deleted)"));
}

TEST(OutputFile, RefusesADescriptorForReading) {
  const Scratch scratch;
  spill(scratch / "f", "precious");
  const Descriptor reading(open((scratch / "f").c_str(), O_RDONLY | O_CLOEXEC));
  expect_error([&] { OutputFile file("/dev/fd/" + std::to_string(reading.get())); }, ASR_IO, "open for reading only");
  EXPECT_EQ(slurp(scratch / "f"), "precious");
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

TEST(OutputFile, AppendsToTheFileOfAnotherProcess) {
  const Scratch scratch;
  spill(scratch / "log", "older\n");
  const Descriptor log(open((scratch / "log").c_str(), O_RDWR | O_CLOEXEC));
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(log.get());
  EXPECT_EQ(in_child([&] { return outcome_of([&] { append_to_descriptor(path); }).code; }), ASR_OK);
  EXPECT_EQ(slurp(scratch / "log"), "older\nnew\n");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

// A child of fork may end with its parent's outputs in hand, also by exit(), which destroys some of them.
TEST(OutputDirectory, AChildOfForkLeavesItsParentsOutputsAlone) {
  const Scratch scratch;
  auto file = std::make_unique<OutputFile>(scratch / "file");
  auto directory = std::make_unique<OutputDirectory>(scratch / "bundle");
  file->write("of the parent");
  const int code = in_child([&] {
    remove_unfinished_outputs();  // takes the lock, which is new in the child
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(in_child([&] {
              file.reset();
              directory.reset();
              OutputFile own(scratch / "own");
              own.commit();
              return 0;
            }),
            0);
  OutputFile(directory->file("senone.json")).commit();
  file->commit();
  directory->commit();
  EXPECT_EQ(read_file(scratch / "file"), "of the parent");
  EXPECT_EQ(read_file(scratch / "bundle/senone.json"), "");
  EXPECT_EQ(read_file(scratch / "own"), "");
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
    put(directory.file("a"), "1");
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
  put(directory.file("senone.json"), "new");
  EXPECT_EQ(slurp(scratch / "bundle/senone.json"), "old");
  directory.commit();
  EXPECT_EQ(slurp(scratch / "bundle/senone.json"), "new");
  EXPECT_EQ(slurp(scratch / "bundle/kept"), "kept");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

TEST(OutputDirectory, TakesTheDirectoryInWhichTheProcessIs) {
  const Scratch scratch;
  fs::create_directory(scratch / "bundle");
  spill(scratch / "bundle/senone.json", "old");
  const fs::path before = fs::current_path();
  fs::current_path(scratch / "bundle");
  {
    OutputDirectory directory(".");
    put(directory.file("senone.json"), "new");
    directory.commit();
  }
  fs::current_path(before);
  EXPECT_EQ(slurp(scratch / "bundle/senone.json"), "new");
  EXPECT_EQ(scratch.n_entries(), 1u);
}

// Between two steps somebody else puts a link in the place of the temporary directory.
TEST(OutputDirectory, StaysInItsDirectory) {
  const Scratch scratch;
  fs::create_directory(scratch / "bundle");
  fs::create_directory(scratch / "other");
  spill(scratch / "bundle/senone.json", "old");
  OutputDirectory directory(scratch / "bundle");
  for (const fs::directory_entry &entry : fs::directory_iterator(scratch.path())) {
    if (entry.path().filename().string().find(".partial-") == std::string::npos) continue;
    fs::rename(entry.path(), scratch / "moved");
    fs::create_directory_symlink(scratch / "other", entry.path());
    break;
  }
  put(directory.file("graph.bin"), "new");
  put(directory.file("senone.json"), "new");
  directory.commit();
  EXPECT_TRUE(fs::is_empty(scratch / "other"));
  EXPECT_EQ(slurp(scratch / "bundle/graph.bin"), "new");
  EXPECT_EQ(slurp(scratch / "bundle/senone.json"), "new");
}

TEST(OutputDirectory, KeepsThePermissionsOfReplacedFiles) {
  const Scratch scratch;
  fs::create_directory(scratch / "bundle");
  spill(scratch / "bundle/senone.json", "old");
  fs::permissions(scratch / "bundle/senone.json", fs::perms(0600));
  OutputDirectory directory(scratch / "bundle");
  put(directory.file("senone.json"), "new");
  put(directory.file("more"), "new");
  directory.commit();
  EXPECT_EQ(status_of(scratch / "bundle/senone.json").st_mode & 0777, 0600u);
  EXPECT_NE(status_of(scratch / "bundle/more").st_mode & 0777, 0600u);
}

// New files of a hidden bundle are hidden while they are written.
TEST(OutputDirectory, IsAsHiddenAsTheBundle) {
  const Scratch scratch;
  fs::create_directory(scratch / "bundle");
  fs::permissions(scratch / "bundle", fs::perms(0700));
  const OutputDirectory directory(scratch / "bundle");
  for (const fs::directory_entry &entry : fs::directory_iterator(scratch.path())) {
    EXPECT_EQ(entry.status().permissions(), fs::perms(0700)) << entry.path();
  }
}

TEST(OutputDirectory, OneThatStaysIsMadeWithItsParents) {
  const Scratch scratch;
  fs::create_directory_symlink("a/b", scratch / "link");
  put({hold_output_directory(scratch / "a/b/"), "f", "f"}, "1");
  put({hold_output_directory(scratch / "link"), "g", "g"}, "2");
  EXPECT_EQ(slurp(scratch / "a/b/f"), "1");
  EXPECT_EQ(slurp(scratch / "a/b/g"), "2");
  expect_error([&] { hold_output_directory(scratch / "a/b/f"); }, ASR_IO, "cannot be opened: Not a directory");
  if (geteuid() != 0) return;  // only root can give a link away
  ASSERT_EQ(lchown((scratch / "link").c_str(), 65534, 65534), 0);
  expect_error([&] { hold_output_directory(scratch / "link"); }, ASR_IO, "is a symbolic link of user 65534");
}

// A linked file is another bundle's file, too.
TEST(OutputDirectory, LeavesLinkedFilesAsTheyAre) {
  const Scratch scratch;
  spill(scratch / "source", "model");
  fs::permissions(scratch / "source", fs::perms(0644));
  const struct stat before = status_of(scratch / "source");
  fs::create_directory(scratch / "bundle");
  for (const char *name : {"bundle/senone.json", "bundle/model"}) {
    spill(scratch / name, "old");
    fs::permissions(scratch / name, fs::perms(0666));
    if (geteuid() == 0) {
      ASSERT_EQ(chown((scratch / name).c_str(), 65534, 65534), 0);
    }
  }
  OutputDirectory directory(scratch / "bundle");
  directory.add("model", scratch / "source");
  directory.commit();
  const struct stat after = status_of(scratch / "source"), linked = status_of(scratch / "bundle/model");
  EXPECT_EQ(linked.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
}

// Who may change the source could change the bundle by it.
TEST(OutputDirectory, CopiesWhatOthersMayChange) {
  const Scratch scratch;
  spill(scratch / "source", std::string(1 << 20, 'm'));
  fs::permissions(scratch / "source", fs::perms(0666));
  OutputDirectory directory(scratch / "bundle");
  directory.add("model", scratch / "source");
  directory.commit();
  const struct stat copy = status_of(scratch / "bundle/model");
  EXPECT_NE(copy.st_ino, status_of(scratch / "source").st_ino);
  EXPECT_EQ(copy.st_mode & S_IWOTH, 0u);
  EXPECT_EQ(slurp(scratch / "bundle/model"), slurp(scratch / "source"));
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
    directory.add("copied", scratch / "old");
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
