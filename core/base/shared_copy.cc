// SPDX-License-Identifier: Apache-2.0
// The copy is a memfd sealed against writing and resizing. Processes find it by a symbolic link in the user's runtime
// directory, named by what stat tells of the file: the link leads to the descriptor of the process that made the copy. A
// process that finds no link that leads to such a copy makes one. Where there is no memfd, or no directory, nothing is shared,
// and all else is the same.
#include "core/base/shared_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace asr {

class SharedPages {
 public:
  explicit SharedPages(FileCopy copy) : own_(std::move(copy)), data_(own_.data()), size_(own_.size()) {}
  SharedPages(Descriptor descriptor, size_t size) : descriptor_(std::move(descriptor)) {
    void *const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor_.get(), 0);
    if (mapped == MAP_FAILED) return;
    data_ = static_cast<const uint8_t *>(mapped);
    size_ = size;
  }
  ~SharedPages();
  SharedPages(const SharedPages &) = delete;
  SharedPages &operator=(const SharedPages &) = delete;

  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  void publish(const std::string &link);
  std::atomic<bool> &checked() const { return checked_; }

 private:
  FileCopy own_;
  Descriptor descriptor_;
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
  mutable std::atomic<bool> checked_{false};
  std::string link_, target_;  // in the directory of this user; empty: not published, or not by this process
  pid_t publisher_ = 0;
};

namespace {

// Whether a symbolic link leads to `target`. Takes no memory.
bool leads_to(const std::string &link, const std::string &target) noexcept {
  char found[PATH_MAX];
  const ssize_t n = readlink(link.c_str(), found, sizeof(found));
  return n > 0 && target == std::string_view(found, static_cast<size_t>(n));
}

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
// A file that changed less than this ago may change again within the resolution of its times.
constexpr time_t kSettledSeconds = 2;

std::string hexadecimal(uint64_t value) { return format("%llx", static_cast<unsigned long long>(value)); }

// Different for files of different content.
std::string key_of(const struct stat &s) {
  std::string key = "graph";
  for (const uint64_t part : {uint64_t{s.st_dev}, uint64_t{s.st_ino}, static_cast<uint64_t>(s.st_size),
                              static_cast<uint64_t>(s.st_mtim.tv_sec), static_cast<uint64_t>(s.st_mtim.tv_nsec),
                              static_cast<uint64_t>(s.st_ctim.tv_sec), static_cast<uint64_t>(s.st_ctim.tv_nsec)}) {
    key += "-" + hexadecimal(part);
  }
  return key;
}

bool is_settled(const struct stat &s) {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  return s.st_ctim.tv_sec + kSettledSeconds < now.tv_sec && s.st_mtim.tv_sec + kSettledSeconds < now.tv_sec;
}

// A directory that is this user's alone, or "".
std::string runtime_directory() {
  const char *const runtime = secure_getenv("XDG_RUNTIME_DIR");
  const bool named = runtime != nullptr && runtime[0] == '/';
  const std::string path = named ? std::string(runtime) + "/senone" : format("/dev/shm/senone-%u", geteuid());
  mkdir(path.c_str(), 0700);
  struct stat s {};
  const bool own = lstat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 022) == 0;
  return own ? path : "";
}

// Links whose process has ended.
void remove_dangling(const std::string &directory) {
  DIR *const all = opendir(directory.c_str());
  if (all == nullptr) return;
  while (const dirent *const entry = readdir(all)) {
    const std::string path = directory + "/" + entry->d_name;
    if (path.find("/graph-") != std::string::npos && access(path.c_str(), F_OK) != 0) unlink(path.c_str());
  }
  closedir(all);
}

bool copy_bytes(const Descriptor &from, const Descriptor &to, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = sendfile(to.get(), from.get(), nullptr, size - done);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

std::shared_ptr<SharedPages> sealed_copy(const Descriptor &file, const struct stat &status) {
  const auto size = static_cast<size_t>(status.st_size);
  Descriptor memory(memfd_create(key_of(status).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.get() < 0 || !copy_bytes(file, memory, size)) return nullptr;
  struct stat after {};
  if (fstat(file.get(), &after) != 0 || key_of(after) != key_of(status)) return nullptr;
  if (fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return nullptr;
  return std::make_shared<SharedPages>(std::move(memory), size);
}

// A link's process number may stand for another process by now, or for one elsewhere: the descriptor must be of a memfd that
// has the key for its name.
std::shared_ptr<SharedPages> published_copy(const std::string &directory, const std::string &key, size_t size) {
  Descriptor memory(open((directory + "/" + key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (memory.get() < 0 || fstat(memory.get(), &status) != 0 || static_cast<size_t>(status.st_size) != size) return nullptr;
  const int seals = fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return nullptr;
  if (!leads_to(format("/proc/self/fd/%d", memory.get()), "/memfd:" + key + " (deleted)")) return nullptr;
  return std::make_shared<SharedPages>(std::move(memory), size);
}

std::shared_ptr<const SharedPages> find_or_copy(const std::string &path) {
  static std::mutex mutex;
  static auto *const copies = new std::map<std::string, std::weak_ptr<const SharedPages>>;  // threads may outlive exit
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool known = file.get() >= 0 && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  if (!known || !is_settled(status)) return std::make_shared<SharedPages>(FileCopy(path));
  const std::string key = key_of(status);
  std::lock_guard lock(mutex);
  if (auto copy = (*copies)[key].lock()) return copy;
  const std::string directory = runtime_directory();
  auto copy = directory.empty() ? nullptr : published_copy(directory, key, static_cast<size_t>(status.st_size));
  if (!copy || copy->data() == nullptr) {
    copy = sealed_copy(file, status);
    if (!copy || copy->data() == nullptr) return std::make_shared<SharedPages>(FileCopy(path));
    if (!directory.empty()) {
      remove_dangling(directory);
      copy->publish(directory + "/" + key);
    }
  }
  (*copies)[key] = copy;
  return copy;
}

}  // namespace

// Appears under its name complete; of two processes that do this at once one remains.
void SharedPages::publish(const std::string &link) {
  publisher_ = getpid();
  target_ = format("/proc/%d/fd/%d", publisher_, descriptor_.get());
  const std::string temporary = link + format(".%d", publisher_);
  link_ = link;  // before it is there, so that no lack of memory leaves it
  unlink(temporary.c_str());
  if (symlink(target_.c_str(), temporary.c_str()) != 0 || rename(temporary.c_str(), link.c_str()) != 0) link_.clear();
}

SharedPages::~SharedPages() {
  const bool own = !link_.empty() && publisher_ == getpid();  // not after fork
  if (own && leads_to(link_, target_)) unlink(link_.c_str());
  if (descriptor_.get() >= 0 && data_ != nullptr) munmap(const_cast<uint8_t *>(data_), size_);
}

SharedCopy::SharedCopy(const std::string &path) : pages_(find_or_copy(path)) {}
SharedCopy::SharedCopy(FileCopy copy) : pages_(std::make_shared<SharedPages>(std::move(copy))) {}

const uint8_t *SharedCopy::data() const { return pages_ ? pages_->data() : nullptr; }
bool SharedCopy::is_checked() const { return pages_ && pages_->checked(); }
void SharedCopy::set_checked() const {
  if (pages_) pages_->checked() = true;
}
size_t SharedCopy::size() const { return pages_ ? pages_->size() : 0; }

}  // namespace asr
