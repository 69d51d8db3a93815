// SPDX-License-Identifier: Apache-2.0
#include "builder/train/rows_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"

namespace asr::train {
namespace {

[[noreturn]] void fail_file(const std::string &path, const char *what) {
  fail(ASR_IO, "%s: the file of features %s: %s; free some space or write elsewhere", path.c_str(), what,
       std::generic_category().message(errno).c_str());
}

}  // namespace

RowsFile::RowsFile(const std::string &path, uint32_t n_dims)
    : path_(path), n_dims_(n_dims), descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  if (descriptor_.get() < 0) fail_file(path, "cannot be created");
  unlink(path.c_str());
}

RowsFile::~RowsFile() {
  if (mapped_ != nullptr) munmap(mapped_, size());
}

void RowsFile::add(const float *rows, uint64_t n_rows) {
  const char *next = reinterpret_cast<const char *>(rows);
  size_t at = size();
  for (size_t left = n_rows * n_dims_ * sizeof(float); left > 0;) {
    const ssize_t n = pwrite(descriptor_.get(), next, left, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_file(path_, "cannot be written");
    next += n;
    at += static_cast<size_t>(n);
    left -= static_cast<size_t>(n);
  }
  n_rows_ += n_rows;
}

const float *RowsFile::map() {
  if (mapped_ == nullptr && n_rows_ > 0) {
    void *const mapped = mmap(nullptr, size(), PROT_READ, MAP_SHARED, descriptor_.get(), 0);
    if (mapped == MAP_FAILED) fail_file(path_, "cannot be mapped");
    mapped_ = mapped;
  }
  return static_cast<const float *>(mapped_);
}

}  // namespace asr::train
