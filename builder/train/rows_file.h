// SPDX-License-Identifier: Apache-2.0
// The rows of all training utterances in a file without a name, mapped into memory. The system keeps as many rows in
// memory as fit. No file is left behind however the process ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/file.h"
#include "core/base/thread_pool.h"

namespace asr::train {

constexpr float kMaxFeature = 1e10f;  // of usable rows: squares and their inverses are well within float

class RowsFile {
 public:
  // The file takes disk space in the directory of `place`; its name exists for a moment only.
  RowsFile(const FileAt &place, uint32_t n_dims);
  ~RowsFile();
  RowsFile(const RowsFile &) = delete;
  RowsFile &operator=(const RowsFile &) = delete;

  // Adds all rows. If it throws ASR_IO it has only the earlier rows, and the next ones take the offsets of these.
  void add(const float *rows, uint64_t n_rows);
  uint64_t n_rows() const { return n_rows_; }
  uint32_t n_dims() const { return n_dims_; }

  // All rows; after it none is added.
  const float *map();

  // Turns every row x into A x, summed in double. `matrix`: A, [n_dims][n_dims]. Changes the rows of map(). A full disk
  // may leave a part of the rows turned.
  void transform(const std::vector<double> &matrix, ThreadPool *pool);

 private:
  const std::string path_;
  const uint32_t n_dims_;
  Descriptor descriptor_;
  uint64_t n_rows_ = 0;
  void *mapped_ = nullptr;
  void write(const float *rows, uint64_t first_row, uint64_t n_rows);
  size_t size() const { return n_rows_ * n_dims_ * sizeof(float); }
};

}  // namespace asr::train
