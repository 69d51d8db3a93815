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
  const char *const remedy = error == ENOENT || error == ENOTDIR ? "; check the path"
                             : error == EACCES                   ? "; check its permissions"
                             : error == EMFILE                   ? "; raise the limit of open files (ulimit -n)"
                                                                 : "";
  fail(code, "%s: %s: %s%s", path.c_str(), what, std::generic_category().message(error).c_str(), remedy);
}

void check_unchanged(bool unchanged, const std::string &path) {
  if (!unchanged) fail(ASR_BAD_FILE, "%s: its size changed while it was read; read it when it is complete", path.c_str());
}

}  // namespace

int FileAt::directory() const { return held_ ? held_->get() : AT_FDCWD; }

int FileAt::replaced_directory() const { return replaced_ ? replaced_->get() : directory(); }

// O_NONBLOCK: opening a pipe without a writer would otherwise block for ever.
InputFile::InputFile(const FileAt &file)
    : InputFile(Descriptor(openat(file.directory(), file.name(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), file.path()) {}

InputFile::InputFile(Descriptor descriptor, const std::string &path) : path_(path), descriptor_(std::move(descriptor)) {
  if (this->descriptor() < 0) fail_io(path_, "cannot be opened", errno);
  if (fstat(this->descriptor(), &status_) != 0) fail_io(path_, "cannot be examined", errno);
  if (!S_ISREG(status_.st_mode)) {
    fail(ASR_IO, "%s: is not a regular file but a directory, pipe or device; name a file", path_.c_str());
  }
}

size_t InputFile::read(uint64_t offset, void *bytes, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(descriptor(), static_cast<char *>(bytes) + done, size - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0 && errno != EINTR) fail_io(path_, "cannot be read", errno);
    if (n > 0) done += static_cast<size_t>(n);
  }
  return done;
}

std::string read_file(const FileAt &place, size_t max_bytes) { return read_file(InputFile(place), max_bytes); }

std::string read_file(const InputFile &file, size_t max_bytes) {
  if (file.size() > max_bytes) {
    fail(ASR_BAD_FILE, "%s: has %zu bytes, but up to %zu are read; name another file", file.path().c_str(), file.size(),
         max_bytes);
  }
  std::string text(file.size() + 1, '\0');
  const size_t n = file.read(0, text.data(), text.size());
  check_unchanged(n < text.size(), file.path());
  text.resize(n);
  return text;
}

FileSum sum_file(const FileAt &place) { return sum_file(InputFile(place)); }

FileSum sum_file(const InputFile &file) {
  std::vector<char> piece(size_t{1} << 18);
  FileSum sum{0, kEmptyChecksum};
  for (;;) {
    const size_t n = file.read(sum.size, piece.data(), piece.size());
    sum.size += n;
    sum.checksum = checksum(piece.data(), n, sum.checksum);
    if (n < piece.size()) return sum;
  }
}

FileCopy::FileCopy(const InputFile &file) {
  const size_t size = file.size();
  if (size == 0) return;
  FileCopy copy = pages(size, file.path());  // owns the pages if reading fails
  char more;
  check_unchanged(file.read(0, copy.data_, size) == size && file.read(size, &more, 1) == 0, file.path());
  mprotect(copy.data_, size, PROT_READ);
  *this = std::move(copy);
}

FileCopy::FileCopy(const void *bytes, size_t size, const std::string &source) {
  if (size == 0) return;
  FileCopy copy = pages(size, source);
  memcpy(copy.data_, bytes, size);
  mprotect(copy.data_, size, PROT_READ);
  *this = std::move(copy);
}

FileCopy FileCopy::pages(size_t size, const std::string &source) {
  void *const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail_io(source, "cannot be held in memory", errno);
  madvise(memory, size, MADV_HUGEPAGE);  // a hint: huge pages save page faults
  FileCopy copy;
  copy.data_ = static_cast<uint8_t *>(memory);
  copy.size_ = size;
  return copy;
}

FileCopy::FileCopy(FileCopy &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

FileCopy &FileCopy::operator=(FileCopy &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void FileCopy::release() {
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

MappedFile::MappedFile(const std::string &path) {
  const InputFile file(path);
  size_ = file.size();
  if (size_ == 0) return;
  void *const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
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

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<uint8_t *>(data_), size_);
}

uint64_t checksum(const void *data, size_t size, uint64_t hash) {
  const auto *bytes = static_cast<const uint8_t *>(data);
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

size_t begin_of_text(std::string_view text) { return text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0; }

}  // namespace asr
