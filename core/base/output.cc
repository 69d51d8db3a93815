// SPDX-License-Identifier: Apache-2.0
// OutputFile and OutputDirectory make outputs appear complete or not at all.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "core/base/error.h"
#include "core/base/file.h"

namespace asr {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 1 << 18;
constexpr int kMostLinks = 40;  // most symbolic links followed in a chain, as on Linux

[[noreturn]] void fail_output(const std::string &path, const char *what, int error) {
  const char *remedy = "";
  if (error == ENOSPC || error == EDQUOT) remedy = "; free some space or write elsewhere";
  if (error == EFBIG) remedy = "; raise the limit on file sizes (ulimit -f)";
  const asr_status code = error == ENOENT ? ASR_NOT_FOUND : ASR_IO;
  fail(code, "%s: %s: %s%s", path.c_str(), what, std::generic_category().message(error).c_str(), remedy);
}

// Returns a temporary name beside `path`, unique among the outputs of this and other processes.
std::string temporary_name(const std::string &path) {
  static std::atomic<unsigned> count{0};
  return format("%s.partial-%ld-%u", path.c_str(), static_cast<long>(getpid()), count++);
}

// Resolves symbolic links to their target, which may not exist yet. An output replaces the target, not the link.
std::string resolved(const std::string &path) {
  std::error_code error;
  if (fs::exists(path, error)) {
    const fs::path target = fs::canonical(path, error);
    return error ? path : target.string();
  }
  fs::path target = path;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    if (i == kMostLinks) fail_output(path, "cannot be created", ELOOP);
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target.string();
}

// Gives a temporary the mode of the file it will replace and, if permitted, that file's owner.
void take_access(const std::string &temporary, const std::string &older) {
  struct stat status {};
  if (stat(older.c_str(), &status) != 0) return;
  if (status.st_uid != geteuid() || status.st_gid != getegid()) {
    [[maybe_unused]] const int error = chown(temporary.c_str(), status.st_uid, status.st_gid);
  }
  chmod(temporary.c_str(), status.st_mode & 0777);
}

// The set of existing temporaries. Every creation, rename and removal of a temporary locks `mutex`, so its holder sees outputs
// either unfinished or complete. Never destroyed: the thread that removes temporaries may outlive main().
struct Unfinished {
  std::mutex mutex;
  std::set<std::string> names;
};

Unfinished &unfinished() {
  static Unfinished &all = *new Unfinished;
  return all;
}

// Runs `create`, which creates `name`; on failure it returns false and sets errno.
template <class Create>
bool create_temporary(const std::string &name, Create create) {
  std::lock_guard lock(unfinished().mutex);
  unfinished().names.insert(name);
  if (create()) return true;
  const int error = errno;
  unfinished().names.erase(name);
  errno = error;
  return false;
}

// Removes a file, or a directory that other threads may still be writing into.
void remove_temporary(const std::string &name) {
  std::error_code error;
  for (int i = 0; i < 1000 && fs::remove_all(name, error) == static_cast<std::uintmax_t>(-1); ++i) error.clear();
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

OutputFile::OutputFile(const std::string &path) : path_(resolved(path)) {
  buffer_.reserve(kBufferBytes);
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status)) fail(ASR_IO, "%s: is a directory; name a file", path.c_str());
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // devices and pipes are written in place
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = temporary_name(path_);
    create_temporary(temporary_, [this] {
      descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return descriptor_ >= 0;
    });
    if (descriptor_ >= 0) take_access(temporary_, path_);
  }
  if (descriptor_ < 0) fail_output(path, "cannot be created", errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  remove();
}

void OutputFile::remove() {
  if (temporary_.empty()) return;
  std::lock_guard lock(unfinished().mutex);
  unlink(temporary_.c_str());
  unfinished().names.erase(temporary_);
}

void OutputFile::write(const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  position_ += size;
  while (size > 0) {
    const size_t n = std::min(size, kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes, bytes + n);
    bytes += n;
    size -= n;
    if (buffer_.size() == kBufferBytes) flush();
  }
}

void OutputFile::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_output(path_, "cannot be written", n < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(n);
  }
  buffer_.clear();
}

void OutputFile::pad_to(uint64_t alignment) {
  static constexpr char kZeros[64] = {};
  while (position_ % alignment != 0) write(kZeros, std::min<uint64_t>(sizeof(kZeros), alignment - position_ % alignment));
}

// Some file systems report a full disk only when data is synchronised or the file is closed.
void OutputFile::commit() {
  flush();
  if (!temporary_.empty() && fsync(descriptor_) != 0) fail_output(path_, "cannot be written", errno);
  const int closed = close(descriptor_);
  const int error = errno;
  descriptor_ = -1;
  const int cause = closed != 0 ? error : rename_temporary();
  if (cause == 0) return;
  remove();
  fail_output(path_, "cannot be written", cause);
}

int OutputFile::rename_temporary() {
  if (temporary_.empty()) return 0;
  std::lock_guard lock(unfinished().mutex);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return errno;
  unfinished().names.erase(temporary_);
  return 0;
}

OutputDirectory::OutputDirectory(const std::string &path) : path_(without_trailing_slashes(resolved(path))) {
  if (path_.empty()) fail(ASR_INVALID_ARGUMENT, "the output directory has no name; give one");
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    fail(ASR_IO, "%s: exists and is not a directory; choose another name", path.c_str());
  }
  if (fs::exists(status) && !fs::exists(path_ + "/senone.json", error) && !fs::is_empty(path_, error)) {
    fail(ASR_IO, "%s: exists and is not a bundle; choose another name or remove it", path.c_str());
  }
  temporary_ = temporary_name(path_);
  const bool created = create_temporary(temporary_, [this] { return mkdir(temporary_.c_str(), 0777) == 0; });
  if (!created) fail_output(path, "cannot be created", errno);
}

OutputDirectory::~OutputDirectory() {
  std::lock_guard lock(unfinished().mutex);
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
  unfinished().names.erase(temporary_);
}

std::string OutputDirectory::file(const std::string &name) const { return temporary_ + "/" + name; }

// Replaces the files of an existing bundle one by one, the index last. After an interruption the checksums of the old index
// reveal the mixture.
void OutputDirectory::commit() {
  std::lock_guard lock(unfinished().mutex);
  std::error_code error;
  if (!fs::exists(path_, error)) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) fail_output(path_, "cannot be created", errno);
    committed_ = true;
    return;
  }
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(temporary_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::stable_partition(names.begin(), names.end(), [](const std::string &name) { return name != "senone.json"; });
  for (const std::string &name : names) {
    const std::string target = path_ + "/" + name;
    take_access(file(name), target);
    if (rename(file(name).c_str(), target.c_str()) != 0) fail_output(target, "cannot be replaced", errno);
  }
  fs::remove_all(temporary_, error);
  committed_ = true;
}

void remove_unfinished_outputs() {
  unfinished().mutex.lock();
  for (const std::string &name : unfinished().names) remove_temporary(name);
}

}  // namespace asr
