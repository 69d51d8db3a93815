// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace asr {
namespace {

[[noreturn]] void fail_io(const std::string &path, const char *what, int error) {
  const asr_status code = error == ENOENT ? ASR_NOT_FOUND : error == ENOMEM ? ASR_OUT_OF_MEMORY : ASR_IO;
  fail(code, "%s: %s: %s", path.c_str(), what, std::generic_category().message(error).c_str());
}

// Owns a descriptor for the length of a scope.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

int open_for_reading(const std::string &path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_io(path, "cannot be opened", errno);
  return descriptor;
}

}  // namespace

std::string read_file(const std::string &path) {
  const Descriptor file(open_for_reading(path));
  std::string text;
  struct stat status {};
  if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) text.reserve(static_cast<size_t>(status.st_size) + 1);
  constexpr size_t kChunk = 1 << 16;
  for (;;) {
    const size_t size = text.size();
    text.resize(size + kChunk);
    const ssize_t n = read(file.get(), text.data() + size, kChunk);
    const int error = errno;
    text.resize(size + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n == 0) return text;
    if (n < 0 && error != EINTR) fail_io(path, "cannot be read", error);
  }
}

MappedFile::MappedFile(const std::string &path) {
  const Descriptor file(open_for_reading(path));
  struct stat status {};
  if (fstat(file.get(), &status) != 0) fail_io(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) fail(ASR_IO, "%s: is not a regular file; name a file", path.c_str());
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void *const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) fail_io(path, "cannot be mapped", errno);
  data_ = static_cast<const uint8_t *>(mapped);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release_pages() const {
  if (data_ != nullptr) madvise(const_cast<uint8_t *>(data_), size_, MADV_DONTNEED);  // a wish
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<uint8_t *>(data_), size_);
}

uint64_t checksum(const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
  };
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    mix(word);
  }
  if (i < size) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, size - i);
    mix(word);
  }
  return hash;
}

}  // namespace asr
