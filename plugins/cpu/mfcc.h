// SPDX-License-Identifier: Apache-2.0
// Mfcc extracts MFCC on the CPU (mfcc.cc): many frames at once, one frame per vector lane. entry.cc calls it for `extract`.
#pragma once

#include <memory>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"

namespace asr::cpu {

class Mfcc {
 public:
  explicit Mfcc(const asr_features_view &view);  // copies its tables
  ~Mfcc();
  // Safe from several threads at once.
  void extract(const asr_extract_job *jobs, size_t n_jobs, ThreadPool &pool) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace asr::cpu
