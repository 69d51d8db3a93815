// SPDX-License-Identifier: Apache-2.0
#include "builder/train/rows_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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

RowsFile::RowsFile(const FileAt &place, uint32_t n_dims)
    : path_(place.path()),
      n_dims_(n_dims),
      descriptor_(openat(place.directory(), place.name(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) {
  if (descriptor_.get() < 0) fail_file(path_, "cannot be created");
  unlinkat(place.directory(), place.name(), 0);
}

RowsFile::~RowsFile() {
  if (mapped_ != nullptr) munmap(mapped_, size());
}

void RowsFile::add(const float *rows, uint64_t n_rows) {
  write(rows, n_rows_, n_rows);
  n_rows_ += n_rows;
}

void RowsFile::write(const float *rows, uint64_t first_row, uint64_t n_rows) {
  const char *next = reinterpret_cast<const char *>(rows);
  size_t at = first_row * n_dims_ * sizeof(float);
  for (size_t left = n_rows * n_dims_ * sizeof(float); left > 0;) {
    const ssize_t n = pwrite(descriptor_.get(), next, left, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_file(path_, "cannot be written");
    next += n;
    at += static_cast<size_t>(n);
    left -= static_cast<size_t>(n);
  }
}

void RowsFile::transform(const std::vector<double> &matrix, ThreadPool *pool) {
  constexpr uint64_t kRows = 1024;  // at a time
  const float *const all = map();
  pool->run((n_rows_ + kRows - 1) / kRows, [&](size_t piece) {
    const uint64_t first = piece * kRows, n = std::min(kRows, n_rows_ - first);
    std::vector<float> rows(n * n_dims_);
    for (uint64_t row = 0; row < n; ++row) {
      const float *const x = all + (first + row) * n_dims_;
      for (uint32_t i = 0; i < n_dims_; ++i) {
        double sum = 0;
        for (uint32_t j = 0; j < n_dims_; ++j) sum += matrix[size_t{i} * n_dims_ + j] * static_cast<double>(x[j]);
        rows[row * n_dims_ + i] = static_cast<float>(sum);
      }
    }
    write(rows.data(), first, n);
  });
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
