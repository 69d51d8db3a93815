// SPDX-License-Identifier: Apache-2.0
#include "core/base/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

std::string path_of(const Descriptor &descriptor) { return format("/proc/self/fd/%d", descriptor.get()); }

// Checks the file size limit: memory counts as a file here, and growing beyond the limit raises SIGXFSZ.
bool is_within_file_limit(size_t size) {
  struct rlimit limit {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

bool copy_bytes(int from, int to, size_t size) {
  off_t done = 0;
  while (static_cast<size_t>(done) < size) {
    const ssize_t n = sendfile(to, from, &done, size - static_cast<size_t>(done));
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
  }
  return true;
}

}  // namespace

bool leads_to(int directory, const char *link, const std::string &target) noexcept {
  char found[PATH_MAX];
  const ssize_t n = readlinkat(directory, link, found, sizeof(found));
  return n > 0 && target == std::string_view(found, static_cast<size_t>(n));
}

std::optional<SealedMemory> SealedMemory::copy_of(const InputFile &file, const std::string &name) {
  if (!is_within_file_limit(file.size())) return {};
  Descriptor memory(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.get() < 0 || !copy_bytes(file.descriptor(), memory.get(), file.size())) return {};
  if (fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return {};
  return map(std::move(memory), file.size());
}

// O_PATH opens without side effects: no terminal becomes the controlling one, and no writer of a pipe wakes up.
std::optional<SealedMemory> SealedMemory::behind(int directory, const std::string &name, size_t size) {
  const Descriptor place(openat(directory, name.c_str(), O_PATH | O_CLOEXEC));
  const std::string own = path_of(place);
  struct stat status {};
  if (place.get() < 0 || fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (!leads_to(AT_FDCWD, own.c_str(), "/memfd:" + name + " (deleted)")) return {};
  Descriptor memory(open(own.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int seals = memory.get() >= 0 ? fcntl(memory.get(), F_GET_SEALS) : -1;
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(memory.get(), &status) != 0) return {};
  if (status.st_uid != geteuid() || static_cast<size_t>(status.st_size) != size) return {};
  return map(std::move(memory), size);
}

std::optional<SealedMemory> SealedMemory::map(Descriptor descriptor, size_t size) {
  void *const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor.get(), 0);
  if (mapped == MAP_FAILED) return {};
  return SealedMemory(std::move(descriptor), static_cast<const uint8_t *>(mapped), size);
}

SealedMemory::SealedMemory(Descriptor descriptor, const uint8_t *data, size_t size)
    : descriptor_(std::move(descriptor)), data_(data), size_(size) {}

SealedMemory::SealedMemory(SealedMemory &&other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SealedMemory::~SealedMemory() {
  if (data_ != nullptr) munmap(const_cast<uint8_t *>(data_), size_);
}

}  // namespace asr
