// SPDX-License-Identifier: Apache-2.0
// SignalFeed frames one stream's samples for a device that makes the rows itself (`step`), and knows which rows it can
// make. It is the counterpart of FeaturePipeline, which makes rows on the host; DeviceRows uses it. Rows do not depend
// on how the samples were cut into calls.
//
//   feed.add_samples(samples, n);                            // or finish()
//   feed.next_frames(&job); job.n_rows = feed.ready_rows();  // or fewer
//   feed.consume(job.n_rows);                                // run the job on the device
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/backend/asr_backend_signals.h"
#include "core/feature/framer.h"
#include "core/feature/mfcc_tables.h"

namespace asr {

class SignalFeed {
 public:
  // is_whole: the signal is normalised as a whole, and makes no row before it has ended.
  SignalFeed(const FeatureTables &tables, uint32_t window_frames, bool is_whole = false);

  void add_samples(const float *samples, size_t n);
  void finish();

  // Describes the frames of the next step: those with known samples, up to the device's limit. From then on they count as
  // given. The job's samples belong to the feed until its next call of next_frames(), add_samples() or finish().
  void next_frames(asr_step_job *job);

  uint64_t n_frames() const { return n_given_ - n_described_ + framer_.ready_frames(); }  // whose samples are known
  uint64_t n_pending_frames() const { return framer_.ready_frames() - n_described_; }     // frames not yet given to the device
  size_t ready_rows() const;
  void consume(size_t n) { n_made_ += n; }
  bool done() const { return ended_ && n_made_ == n_given_; }

 private:
  void drop_given();

  Framer framer_;
  const uint32_t window_frames_, lookahead_;
  const bool is_whole_;
  uint64_t n_given_ = 0, n_made_ = 0;  // frames given, rows made
  uint64_t n_described_ = 0;           // frames still in the framer, for the device to read
  bool finished_ = false, ended_ = false;
};

}  // namespace asr
