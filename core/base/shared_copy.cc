// SPDX-License-Identifier: Apache-2.0
// Engines of a process share a copy through a map of existing copies. Processes find each other's copies through symbolic links
// in a directory of the user. A link is named after the file and its content, and leads to the descriptor in the publishing
// process. It is created once the copy has passed its check. A note of the same name stays in the directory, so that a later
// process need not repeat the whole check. Names hold the build id of the library, because another build may check less.
// Without sealed memory, such a directory or a build id, processes share nothing, and everything else works the same.
#include "core/base/shared_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/build_id.h"
#include "core/base/error.h"
#include "core/base/process_wide.h"
#include "core/base/sealed_memory.h"
#include "core/base/user_directory.h"

namespace asr {

// Sealed memory or, where that is impossible, private memory of the process.
class SharedPages {
 public:
  explicit SharedPages(FileCopy own) : own_(std::move(own)) {}
  explicit SharedPages(SealedMemory sealed) : sealed_(std::move(sealed)) {}
  ~SharedPages();
  SharedPages(const SharedPages &) = delete;
  SharedPages &operator=(const SharedPages &) = delete;

  const uint8_t *data() const { return sealed_ ? sealed_->data() : own_.data(); }
  size_t size() const { return sealed_ ? sealed_->size() : own_.size(); }
  // Creates a link to the pages in a directory of the user's.
  void publish(Descriptor directory, const std::string &link);

 private:
  FileCopy own_;
  std::optional<SealedMemory> sealed_;
  Descriptor directory_;
  std::string link_, target_;  // empty: not published by this process
  pid_t publisher_ = 0;
};

namespace {

using Pages = std::shared_ptr<const SharedPages>;

// Copies tracks the copies of this process, including unfinished ones. The mutex is never held while a file is read.
class Copies {
 public:
  // Calls make() if no copy exists. A thread that wants a copy under construction waits for it.
  template <typename Make>
  Pages find_or_make(const std::string &key, Make make) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !copies_[key].being_made; });
    if (Pages copy = copies_[key].pages.lock()) return copy;
    const Making making(*this, key);
    forget_released();
    lock.unlock();
    Pages made = make();
    lock.lock();
    copies_[key].pages = made;
    lock.unlock();
    return made;
  }

 private:
  struct Copy {
    bool being_made = false;
    std::weak_ptr<const SharedPages> pages;
  };
  class Making {
   public:
    Making(Copies &copies, const std::string &key) : copies_(copies), copy_(copies.copies_[key]) { copy_.being_made = true; }
    ~Making() {
      const std::lock_guard lock(copies_.mutex_);
      copy_.being_made = false;
      copies_.changed_.notify_all();
    }

   private:
    Copies &copies_;
    Copy &copy_;  // stays in the map during construction
  };

  // Erases entries of released copies. Otherwise a program that keeps replacing its graphs would accumulate their names.
  void forget_released() {
    for (auto at = copies_.begin(); at != copies_.end();) {
      const bool is_released = !at->second.being_made && at->second.pages.expired();
      at = is_released ? copies_.erase(at) : std::next(at);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Copy> copies_;
};

ProcessWide<Copies> g_copies;

std::string key_of(const InputFile &file, const std::string &content) {
  const struct stat &s = file.status();
  std::string key = content + "-" + build_id();
  for (const uint64_t part : {uint64_t{s.st_dev}, uint64_t{s.st_ino}, static_cast<uint64_t>(s.st_size),
                              static_cast<uint64_t>(s.st_mtim.tv_sec), static_cast<uint64_t>(s.st_mtim.tv_nsec),
                              static_cast<uint64_t>(s.st_ctim.tv_sec), static_cast<uint64_t>(s.st_ctim.tv_nsec)}) {
    key += format("-%llx", static_cast<unsigned long long>(part));
  }
  return key;
}

// Returns a directory that only this user can write to, if there is one. Programs with more privileges than their user trust
// nothing of the user's. User "nobody" is no user of its own: in a container it also stands for every user whom the container
// lacks.
Descriptor directory_of_user() {
  constexpr uid_t kNobody = 65534;
  if (getauxval(AT_SECURE) != 0 || geteuid() == kNobody) return {};
  if (const char *const runtime = getenv("XDG_RUNTIME_DIR")) {
    const Descriptor base = open_base_directory(runtime, IfMissing::kFail);
    struct stat s {};
    const bool is_own = base.get() >= 0 && fstat(base.get(), &s) == 0 && s.st_uid == geteuid();
    if (is_own) return open_user_directory(base, "senone");
  }
  return open_user_directory(open_base_directory("/dev/shm", IfMissing::kFail), format("senone-%u", geteuid()));
}

// Calls action(name) for the entries of a directory.
template <typename Action>
void for_each_entry(int directory, const Action &action) {
  Descriptor again(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR *)> all(fdopendir(again.get()), closedir);
  if (!all) return;
  again.release();
  while (const dirent *const entry = readdir(all.get())) action(entry->d_name);
}

// Removes links whose process has ended. A link that cannot be followed for another reason may be of a living process.
void remove_dangling(int directory) {
  for_each_entry(directory, [&](const char *name) {
    struct stat s {};
    if (fstatat(directory, name, &s, 0) != 0 && errno == ENOENT) unlinkat(directory, name, 0);
  });
}

// MakingLock keeps other processes from making the same copy meanwhile. It waits some seconds for another process. Going on
// without the lock only wastes memory.
class MakingLock {
 public:
  MakingLock(int directory, const std::string &key)
      : file_(openat(directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)) {
    range_.l_start = static_cast<off_t>(checksum(key.data(), key.size()) >> 33);  // one byte per copy of an empty file
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + kMaxWaiting;
    while (!set(F_WRLCK) && (errno == EAGAIN || errno == EACCES) && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ~MakingLock() { set(F_UNLCK); }  // a child of fork may share the descriptor
  MakingLock(const MakingLock &) = delete;
  MakingLock &operator=(const MakingLock &) = delete;

 private:
  static constexpr std::chrono::seconds kMaxWaiting{3};
  const Descriptor file_;
  struct flock range_ {
    F_WRLCK, SEEK_SET, 0, 1, 0
  };

  bool set(short type) {
    range_.l_type = type;
    return fcntl(file_.get(), F_OFD_SETLK, &range_) == 0;
  }
};

// Returns the pages that another process made and checked; nullptr if there are none.
Pages published(int directory, const std::string &key, size_t size) {
  auto sealed = SealedMemory::behind(directory, key, size);
  return sealed ? std::make_shared<SharedPages>(std::move(*sealed)) : nullptr;
}

// PassedNote is an empty file which says that a file passed the whole check. Its name identifies the file by the times of its
// last changes. Nobody but the user and root can have written the file. Its last change was kTickOfTimes before the
// check or earlier, so that a later change gives another name. Owners and times are true in file systems that may hold
// setuid programs. Other file systems, such as FUSE's and plugged-in disks', may be another user's.
class PassedNote {
 public:
  PassedNote(const InputFile &file, int directory, const std::string &key)
      : directory_(directory), suffix_(".passed"), name_(key + suffix_), is_trusted_(is_settled(file)) {}
  bool exists() const {
    struct stat s {};
    return is_trusted_ && fstatat(directory_, name_.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) &&
           s.st_uid == geteuid();
  }
  void write() const {
    if (!is_trusted_) return;
    make_place();
    constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const Descriptor note(openat(directory_, name_.c_str(), kFlags, 0600));
  }

 private:
  static constexpr time_t kTickOfTimes = 2;  // in seconds; no usual file system has longer ones
  static constexpr size_t kMaxNotes = 64;

  const int directory_;
  const std::string suffix_, name_;
  const bool is_trusted_;

  static bool is_settled(const InputFile &file) {
    const struct stat &s = file.status();
    struct statvfs system {};
    if (fstatvfs(file.descriptor(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0) return false;
    const time_t now = time(nullptr);
    return why_others_may_change(s).empty() && s.st_ctim.tv_sec + kTickOfTimes < now && s.st_mtim.tv_sec + kTickOfTimes < now;
  }

  // Removes all notes if they have become too many.
  void make_place() const {
    std::vector<std::string> notes;
    for_each_entry(directory_, [&](const std::string &name) {
      const bool is_note = name.size() > suffix_.size() && name.substr(name.size() - suffix_.size()) == suffix_;
      if (is_note) notes.push_back(name);
    });
    if (notes.size() < kMaxNotes) return;
    for (const std::string &note : notes) unlinkat(directory_, note.c_str(), 0);
  }
};

std::shared_ptr<SharedPages> make(const InputFile &file, const std::string &key, const SharedCopy::Check &check) {
  auto sealed = SealedMemory::copy_of(file, key);
  auto pages = sealed ? std::make_shared<SharedPages>(std::move(*sealed)) : std::make_shared<SharedPages>(FileCopy(file));
  check(pages->data(), pages->size());
  return pages;
}

Pages find_or_publish(const InputFile &file, const std::string &key, const SharedCopy::Check &check,
                      const SharedCopy::Check &recheck) {
  Descriptor of_user = build_id().empty() ? Descriptor() : directory_of_user();
  const int directory = of_user.get();
  if (directory < 0) return make(file, key, check);
  if (Pages copy = published(directory, key, file.size())) return copy;
  const MakingLock lock(directory, key);
  if (Pages copy = published(directory, key, file.size())) return copy;
  const PassedNote note(file, directory, key);
  const bool has_passed = note.exists();
  const auto made = make(file, key, has_passed ? recheck : check);
  if (!has_passed) note.write();
  if (Pages copy = published(directory, key, file.size())) return copy;  // published after the wait had timed out
  remove_dangling(directory);
  made->publish(std::move(of_user), key);
  return made;
}

}  // namespace

// Creates the link under its final name at once; if two processes do this at the same time, one link remains.
void SharedPages::publish(Descriptor directory, const std::string &link) {
  if (!sealed_) return;
  publisher_ = getpid();
  directory_ = std::move(directory);
  target_ = format("/proc/%d/fd/%d", publisher_, sealed_->descriptor());
  const std::string temporary = link + format(".%d", publisher_);
  link_ = link;  // set before the link exists, so that a lack of memory cannot leave the link behind
  const int place = directory_.get();
  unlinkat(place, temporary.c_str(), 0);
  if (symlinkat(target_.c_str(), place, temporary.c_str()) != 0 ||
      renameat(place, temporary.c_str(), place, link.c_str()) != 0) {
    unlinkat(place, temporary.c_str(), 0);
    link_.clear();
  }
}

SharedPages::~SharedPages() {
  const bool own = !link_.empty() && publisher_ == getpid();  // false in a child of fork
  if (own && leads_to(directory_.get(), link_.c_str(), target_)) unlinkat(directory_.get(), link_.c_str(), 0);
}

SharedCopy::SharedCopy(FileCopy copy, const Check &check) {
  pages_ = std::make_shared<SharedPages>(std::move(copy));
  check(data(), size());
}

SharedCopy::SharedCopy(const InputFile &file, const std::string &content, const Check &check, const Check &recheck) {
  const std::string key = key_of(file, content);
  pages_ = g_copies->find_or_make(key, [&] { return find_or_publish(file, key, check, recheck); });
}

const uint8_t *SharedCopy::data() const { return pages_ ? pages_->data() : nullptr; }
size_t SharedCopy::size() const { return pages_ ? pages_->size() : 0; }

}  // namespace asr
