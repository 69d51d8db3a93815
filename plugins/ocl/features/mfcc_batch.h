// SPDX-License-Identifier: Apache-2.0
// MfccBatch collects the frames of one launch in work-groups. Used by mfcc.cc.
#pragma once

#include <cstddef>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/gpu/features/mfcc_sums_types.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/ocl/features/mfcc_types.h"

namespace asr::gpu {

// MfccRoom is the capacity of a work-group.
struct MfccRoom {
  uint32_t n_frames;
  size_t sample_floats;  // floats of local memory for samples
};

class MfccBatch {
 public:
  // options.n_ceps counts the values of a row that the kernel makes, n_ceps those of a row of the jobs.
  MfccBatch(const MfccOptions &options, uint32_t n_ceps, MfccRoom room) : options_(options), n_ceps_(n_ceps), room_(room) {}

  // Adds n frames, from number `first` on, of jobs that want the same frames under several warps.
  void add(const asr_extract_job *jobs, size_t n_jobs, uint32_t first, uint32_t n);

  size_t n_floats() const { return n_samples_ + n_values(); }
  size_t frame_floats(size_t n_jobs) const { return options_.shift_samples + options_.n_ceps * n_jobs; }
  size_t n_samples() const { return n_samples_; }
  size_t n_rows() const { return n_rows_; }
  size_t n_values() const { return n_rows_ * options_.n_ceps; }  // values that the kernel writes
  const std::vector<MfccGroup> &groups() const { return groups_; }
  const std::vector<MfccSegment> &segments() const { return segments_; }
  const std::vector<MfccRun> &runs() const { return runs_; }
  const std::vector<MfccOutput> &outputs() const { return outputs_; }
  // The same frames without work-groups, for mfcc_sums_kernel.h.
  const std::vector<MfccFrames> &frames() const { return frames_; }
  uint32_t n_lanes() const { return n_lanes_; }
  const std::vector<Piece<const float>> &samples() const { return samples_; }
  const std::vector<Piece<float>> &cepstra() const { return cepstra_; }

  // Returns the floats of local memory that n successive frames take.
  static size_t local_floats(const MfccOptions &options, uint32_t n_frames);

 private:
  uint32_t frames_that_fit(uint32_t n) const;
  void add_to_run(uint32_t n_lanes, uint32_t first_output, uint32_t n_outputs);

  MfccOptions options_;
  uint32_t n_ceps_;
  MfccRoom room_;
  size_t n_samples_ = 0, n_rows_ = 0, local_used_ = 0;
  std::vector<MfccGroup> groups_;
  std::vector<MfccSegment> segments_;
  std::vector<MfccRun> runs_;
  std::vector<MfccOutput> outputs_;
  std::vector<MfccFrames> frames_;
  uint32_t n_lanes_ = 0;
  std::vector<Piece<const float>> samples_;
  std::vector<Piece<float>> cepstra_;
};

}  // namespace asr::gpu
