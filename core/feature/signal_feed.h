// SPDX-License-Identifier: Apache-2.0
// The frames of one stream's samples on their way to a device that makes the rows itself (`step`), and which rows it can make.
// The counterpart of FeaturePipeline, which makes them on the host; used by Utterance. Rows do not depend on how the samples
// were cut into calls.
//
//   feed.add_samples(samples, n);                            // or finish()
//   feed.next_frames(&job); job.n_rows = feed.ready_rows();  // or fewer
//   feed.consume(job.n_rows);                                // run the job on the device
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/backend/asr_backend.h"
#include "core/feature/framer.h"
#include "core/feature/mfcc_tables.h"

namespace asr {

class SignalFeed {
 public:
  SignalFeed(const FeatureTables &tables, uint32_t window_frames);

  void add_samples(const float *samples, size_t n);
  void finish();

  // Describes the frames of the next step: those whose samples are known, as far as the device takes them. They count as there
  // from now on. The job's samples are the feed's until its next call of this, add_samples() or finish().
  void next_frames(asr_step_job *job);

  uint64_t n_pending_frames() const { return framer_.ready_frames() - n_described_; }  // not yet given to the device
  size_t ready_rows() const;
  void consume(size_t n) { n_made_ += n; }
  bool done() const { return ended_ && n_made_ == n_given_; }

 private:
  void drop_given();

  Framer framer_;
  const uint32_t window_frames_, lookahead_;
  uint64_t n_given_ = 0, n_made_ = 0;  // frames, rows
  uint64_t n_described_ = 0;           // frames still in the framer, for the device to read
  bool finished_ = false, ended_ = false;
};

}  // namespace asr
