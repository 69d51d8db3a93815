// SPDX-License-Identifier: Apache-2.0
// OutputFile and OutputDirectory make outputs appear complete or not at all, in directories that may be another user's.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/process_wide.h"
#include "core/base/user_directory.h"

namespace asr {
namespace {

using Held = FileAt::Held;

constexpr size_t kBufferBytes = 1 << 18;
constexpr int kMaxLinks = 40;  // most symbolic links followed in a chain, as on Linux
constexpr char kIndexName[] = "senone.json";

[[noreturn]] void fail_output(const std::string &path, const char *what, int error) {
  const char *remedy = "";
  if (error == ENOSPC || error == EDQUOT) remedy = "; free some space or write elsewhere";
  if (error == EFBIG) remedy = "; raise the limit on file sizes (ulimit -f)";
  const asr_status code = error == ENOENT ? ASR_NOT_FOUND : ASR_IO;
  fail(code, "%s: %s: %s%s", path.c_str(), what, std::generic_category().message(error).c_str(), remedy);
}

// Returns a temporary name beside `name`, unique among the outputs of this and other processes.
std::string temporary_name(const std::string &name) {
  static std::atomic<unsigned> count{0};
  return format("%s.partial-%ld-%u", name.c_str(), static_cast<long>(getpid()), count++);
}

Held open_directory(int directory, const std::string &path, const std::string &output) {
  auto held = std::make_shared<const Descriptor>(openat(directory, path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (held->get() < 0) fail_output(output, "cannot be created", errno);
  return held;
}

// The links of a process's descriptors lead to open files. Their texts are no paths: the file may have been renamed, removed or
// replaced since, or never had a name.
bool is_in_proc(int directory) {
  constexpr long kProc = 0x9fa0;  // PROC_SUPER_MAGIC of linux/magic.h
  struct statfs system {};
  return fstatfs(directory, &system) == 0 && static_cast<long>(system.f_type) == kProc;
}

// Returns the text of a symbolic link; "" if the name is none, or one of /proc.
std::string followed_link(int directory, const std::string &name, const std::string &output) {
  struct stat status {};
  if (fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(status.st_mode)) return "";
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    fail(ASR_IO, "%s: is a symbolic link of user %u, which is not followed; name the file that it leads to", output.c_str(),
         static_cast<unsigned>(status.st_uid));
  }
  if (is_in_proc(directory)) return "";
  char text[PATH_MAX];
  const ssize_t n = readlinkat(directory, name.c_str(), text, sizeof(text));
  if (n <= 0 || static_cast<size_t>(n) == sizeof(text)) fail_output(output, "cannot be created", n < 0 ? errno : ENAMETOOLONG);
  return std::string(text, static_cast<size_t>(n));
}

// Permissions of a new file by the rule of OutputFile. It is created with those that are allowed to it in any case, because
// whoever could open it in between would read all that is written later.
struct Permissions {
  mode_t created;                 // before the umask
  std::optional<mode_t> exactly;  // to be set afterwards
};

Permissions permissions_of(const FileAt &place, mode_t mode) {
  struct stat older {
  }, directory{};
  const int parent = place.replaced_directory();
  if (fstatat(parent, place.name(), &older, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(older.st_mode)) return {mode, {}};
  const bool is_own = older.st_uid == geteuid() && fstat(parent, &directory) == 0 && why_others_may_change(directory).empty();
  const mode_t kept = older.st_mode & 0777;
  return {mode & kept, is_own ? std::optional(kept) : std::nullopt};
}

// Returns the number of a descriptor of this process by its link in /proc; -1 if the link is another.
int own_descriptor(const FileAt &place) {
  struct stat directory {
  }, own{};
  if (fstat(place.directory(), &directory) != 0 || stat("/proc/self/fd", &own) != 0) return -1;
  const std::string_view name = place.name();
  int number = -1;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_own = directory.st_dev == own.st_dev && directory.st_ino == own.st_ino;
  return is_own && read.ec == std::errc() && read.ptr == name.data() + name.size() ? number : -1;
}

// A temporary file or directory, named relative to the directory that it lies in.
struct Temporary {
  Held parent, directory;  // `directory`: nullptr for a file
};

// The existing temporaries by name. Every creation, rename and removal of a temporary locks `mutex`, so its holder sees outputs
// either unfinished or complete. A child of fork has none: those of its parent are the parent's to finish.
struct Unfinished {
  std::mutex mutex;
  std::map<std::string, Temporary> all;
};

ProcessWide<Unfinished> g_unfinished;

// Runs `create`, which creates `name` in `parent`; on failure it returns false and sets errno.
template <class Create>
bool create_temporary(const std::string &name, const Held &parent, Create create) {
  std::lock_guard lock(g_unfinished->mutex);
  Temporary &temporary = g_unfinished->all[name];
  temporary.parent = parent;
  if (create(&temporary)) return true;
  const int error = errno;
  g_unfinished->all.erase(name);
  errno = error;
  return false;
}

// Calls action(name) for the entries of a directory; returns false if it cannot be read.
template <typename Action>
bool for_each_entry(int directory, const Action &action) {
  Descriptor again(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR *)> entries(fdopendir(again.get()), closedir);
  if (!entries) return false;
  again.release();
  while (const dirent *const entry = readdir(entries.get())) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) action(entry->d_name);
  }
  return true;
}

bool is_empty(int directory) {
  size_t n = 0;
  return for_each_entry(directory, [&](const char *) { ++n; }) && n == 0;
}

// Removes a file, or a directory that other threads may still be writing into.
void remove_temporary(const std::string &name, const Temporary &temporary) {
  if (!temporary.directory) {
    unlinkat(temporary.parent->get(), name.c_str(), 0);
    return;
  }
  const int directory = temporary.directory->get();
  for (int i = 0; i < 1000; ++i) {
    for_each_entry(directory, [&](const char *entry) { unlinkat(directory, entry, 0); });
    if (unlinkat(temporary.parent->get(), name.c_str(), AT_REMOVEDIR) == 0 || errno != ENOTEMPTY) return;
  }
}

// Returns the path of a directory with a name at its end, which "." and ".." have not.
std::string named_directory(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.empty()) fail(ASR_INVALID_ARGUMENT, "the output directory has no name; give one");
  const std::string last = std::filesystem::path(path).filename();
  if (last != "." && last != "..") return path;
  std::error_code error;
  const std::string named = std::filesystem::canonical(path, error);
  if (error) fail_output(path, "cannot be created", error.value());
  return named;
}

// Opens the bundle that will be replaced; returns nullptr if there is none.
Held open_bundle(const FileAt &place) {
  const std::string &path = place.path();
  auto held = std::make_shared<const Descriptor>(
      openat(place.directory(), place.name(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (held->get() < 0 && errno == ENOENT) return nullptr;
  if (held->get() < 0 && (errno == ENOTDIR || errno == ELOOP)) {
    fail(ASR_IO, "%s: exists and is not a directory; choose another name", path.c_str());
  }
  if (held->get() < 0) fail_output(path, "cannot be opened", errno);
  struct stat index {};
  if (fstatat(held->get(), kIndexName, &index, 0) != 0 && !is_empty(held->get())) {
    fail(ASR_IO, "%s: exists and is not a bundle; choose another name or remove it", path.c_str());
  }
  return held;
}

}  // namespace

FileAt output_place(const FileAt &path) {
  Held directory = path.held();
  std::string rest = path.name();
  for (int n_links = 0; n_links <= kMaxLinks; ++n_links) {
    const size_t slash = rest.rfind('/');
    const std::string name = slash == std::string::npos ? rest : rest.substr(slash + 1);
    const int from = directory ? directory->get() : AT_FDCWD;
    if (slash != std::string::npos) {
      directory = open_directory(from, rest.substr(0, slash + 1), path.path());
    } else if (!directory) {
      directory = open_directory(AT_FDCWD, ".", path.path());
    }
    rest = followed_link(directory->get(), name, path.path());
    if (!rest.empty()) continue;
    if (n_links == 0 && directory == path.held()) return path;
    return {directory, name.empty() ? "." : name, path.path()};
  }
  fail_output(path.path(), "cannot be created", ELOOP);
}

FileAt::Held hold_output_directory(const std::string &path) {
  const std::string named = named_directory(path);
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(named).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) fail_output(path, "cannot be created", error.value());
  const FileAt place = output_place(named);
  if (mkdirat(place.directory(), place.name(), 0777) != 0 && errno != EEXIST) fail_output(path, "cannot be created", errno);
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  auto held = std::make_shared<const Descriptor>(openat(place.directory(), place.name(), kFlags));
  if (held->get() < 0) fail_output(path, "cannot be opened", errno);
  return held;
}

OutputFile::OutputFile(const FileAt &file, mode_t mode) : file_(output_place(file)) {
  buffer_.reserve(kBufferBytes);
  struct stat older {};
  const bool exists = fstatat(file_.directory(), file_.name(), &older, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISDIR(older.st_mode)) fail(ASR_IO, "%s: is a directory; name a file", file_.path().c_str());
  if (exists && !S_ISREG(older.st_mode)) {
    open_in_place();
    return;
  }
  const Permissions permissions = permissions_of(file_, mode);
  temporary_ = temporary_name(file_.name());
  create_temporary(temporary_, file_.held(), [&](Temporary *) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    descriptor_ = Descriptor(openat(file_.directory(), temporary_.c_str(), kFlags, permissions.created));
    return descriptor_.get() >= 0;
  });
  if (descriptor_.get() < 0) {
    const int error = errno;
    temporary_.clear();
    fail_output(file_.path(), "cannot be created", error);
  }
  struct stat fresh {};
  if (permissions.exactly && fstat(descriptor_.get(), &fresh) == 0 && (fresh.st_mode & 0777) != *permissions.exactly) {
    fchmod(descriptor_.get(), *permissions.exactly);  // file systems without permissions refuse them
  }
}

// Opens a pipe, a device or a descriptor's file. A regular file that has taken the place of a pipe or device is not written to.
void OutputFile::open_in_place() {
  const bool is_link = is_in_proc(file_.directory());
  const int own = is_link ? own_descriptor(file_) : -1;
  constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
  descriptor_ = Descriptor(own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                                    : openat(file_.directory(), file_.name(), kFlags | (is_link ? O_APPEND : O_NOFOLLOW)));
  struct stat status {};
  if (descriptor_.get() < 0 || fstat(descriptor_.get(), &status) != 0) fail_output(file_.path(), "cannot be created", errno);
  const int flags = fcntl(descriptor_.get(), F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    fail(ASR_IO, "%s: the descriptor is open for reading only; name another output", file_.path().c_str());
  }
  if (S_ISREG(status.st_mode) && !is_link) {
    fail(ASR_IO, "%s: became another file while it was opened; try again", file_.path().c_str());
  }
}

OutputFile::~OutputFile() { remove(); }

void OutputFile::remove() {
  if (temporary_.empty()) return;
  std::lock_guard lock(g_unfinished->mutex);
  if (g_unfinished->all.erase(temporary_) > 0) unlinkat(file_.directory(), temporary_.c_str(), 0);
  temporary_.clear();
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
    const ssize_t n = ::write(descriptor_.get(), buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // a descriptor that another program made non-blocking
      pollfd room{descriptor_.get(), POLLOUT, 0};
      poll(&room, 1, -1);
      continue;
    }
    if (n <= 0) fail_output(file_.path(), "cannot be written", n < 0 ? errno : ENOSPC);
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
  if (!temporary_.empty() && fsync(descriptor_.get()) != 0) fail_output(file_.path(), "cannot be written", errno);
  const int cause = close(descriptor_.release()) != 0 ? errno : rename_temporary();
  if (cause == 0) return;
  remove();
  fail_output(file_.path(), "cannot be written", cause);
}

int OutputFile::rename_temporary() {
  if (temporary_.empty()) return 0;
  std::lock_guard lock(g_unfinished->mutex);
  if (renameat(file_.directory(), temporary_.c_str(), file_.directory(), file_.name()) != 0) return errno;
  g_unfinished->all.erase(temporary_);
  temporary_.clear();
  return 0;
}

// Somebody who may write to the parent can exchange the new directory before it is opened. The one that is held is a directory
// without entries, so at most it is another empty one.
OutputDirectory::OutputDirectory(const std::string &path)
    : place_(output_place(named_directory(path))), older_(open_bundle(place_)) {
  struct stat older {};
  const bool replaces = older_ && fstat(older_->get(), &older) == 0;
  const mode_t mode = replaces ? (older.st_mode & 0777) | 0700 : 0777;  // its new files are as hidden as they will be
  temporary_ = temporary_name(place_.name());
  const auto directory = std::make_shared<Descriptor>();
  const bool is_created = create_temporary(temporary_, place_.held(), [&](Temporary *temporary) {
    temporary->directory = directory;
    if (mkdirat(place_.directory(), temporary_.c_str(), mode) != 0) return false;
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    *directory = Descriptor(openat(place_.directory(), temporary_.c_str(), kFlags));
    if (directory->get() >= 0 && is_empty(directory->get())) return true;
    const int error = directory->get() >= 0 ? ENOTEMPTY : errno;
    unlinkat(place_.directory(), temporary_.c_str(), AT_REMOVEDIR);
    errno = error;
    return false;
  });
  if (!is_created) fail_output(path, "cannot be created", errno);
  directory_ = directory;
}

OutputDirectory::~OutputDirectory() {
  if (temporary_.empty()) return;
  std::lock_guard lock(g_unfinished->mutex);
  if (g_unfinished->all.erase(temporary_) > 0) remove_temporary(temporary_, {place_.held(), directory_});
}

FileAt OutputDirectory::file(const std::string &name) const { return {directory_, name, place_.path() + "/" + name, older_}; }

void OutputDirectory::add(const std::string &name, const std::string &source) const {
  const InputFile file(source);
  const FileAt place = this->file(name);
  if (why_others_may_change(file.status()).empty() &&
      linkat(AT_FDCWD, source.c_str(), place.directory(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    struct stat linked {};
    const bool is_known = fstatat(place.directory(), name.c_str(), &linked, AT_SYMLINK_NOFOLLOW) == 0 &&
                          linked.st_dev == file.status().st_dev && linked.st_ino == file.status().st_ino;
    if (is_known) return;
    unlinkat(place.directory(), name.c_str(), 0);  // the source was exchanged
  }
  OutputFile copy(place, file.status().st_mode & 0777);
  std::vector<char> piece(kBufferBytes);
  uint64_t n_copied = 0;
  while (const size_t n = file.read(n_copied, piece.data(), piece.size())) {
    copy.write(piece.data(), n);
    n_copied += n;
  }
  copy.commit();
}

// Replaces the files of an existing bundle one by one, the index last. After an interruption the checksums of the old index
// reveal the mixture.
void OutputDirectory::commit() {
  std::lock_guard lock(g_unfinished->mutex);
  if (const Held bundle = open_bundle(place_)) {
    std::vector<std::string> names;
    for_each_entry(directory_->get(), [&](const char *name) { names.emplace_back(name); });
    std::sort(names.begin(), names.end());
    std::stable_partition(names.begin(), names.end(), [](const std::string &name) { return name != kIndexName; });
    for (const std::string &name : names) {
      if (renameat(directory_->get(), name.c_str(), bundle->get(), name.c_str()) != 0) {
        fail_output(place_.path() + "/" + name, "cannot be replaced", errno);
      }
    }
    remove_temporary(temporary_, {place_.held(), directory_});
  } else if (renameat(place_.directory(), temporary_.c_str(), place_.directory(), place_.name()) != 0) {
    fail_output(place_.path(), "cannot be created", errno);
  }
  g_unfinished->all.erase(temporary_);
  temporary_.clear();
}

void remove_unfinished_outputs() {
  g_unfinished->mutex.lock();
  for (const auto &[name, temporary] : g_unfinished->all) remove_temporary(name, temporary);
}

}  // namespace asr
