// SPDX-License-Identifier: Apache-2.0
// FeaturePipeline turns the samples of one stream into feature rows. It does the framing, the device extracts cepstra, and the
// pipeline then does normalisation, dynamic features and transform. Each stream has one, used by one thread at a time (the
// engine's). Rows do not depend on how the samples were cut into calls, nor on max_frames.
//
//   pipeline.add_samples(samples, n);                       // or finish()
//   while (pipeline.next_extract(&job, max_frames)) {       // run the job on the device, alone or with other streams' jobs
//     ...api->extract(device, features, &job, 1)...
//     pipeline.extracted();
//   }
//   score(pipeline.rows(), pipeline.ready_rows()); pipeline.consume(n_scored);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/feature/cepstral_rows.h"
#include "core/feature/framer.h"
#include "core/feature/mfcc_tables.h"

namespace asr {

class FeaturePipeline {
 public:
  // `tables` must outlive the pipeline. `cmn`: the model's (tables.front_end().cmn) or the stream's override. `warp`: index of
  // the filter bank, from tables.warp_index(). `start`: as for Normaliser. Throws asr::Error if the model cannot be normalised
  // that way.
  FeaturePipeline(const FeatureTables &tables, CmnKind cmn, uint32_t warp, const MeanState *start = nullptr);

  void add_samples(const float *samples, size_t n);  // mono, at the front end's rate, scale of 16-bit integers
  void finish();                                     // call once, after the last sample

  // Makes rows of frames held back for a better mean.
  void release_waiting() { rows_.release_waiting(); }

  // Describes the next frames with known samples, at most max_frames; false if there are none. The job's samples and cepstra
  // belong to the pipeline. No other function may be called before extracted().
  bool next_extract(asr_extract_job *job, uint32_t max_frames);
  void extracted();                                                     // call once the job's cepstra are written
  uint64_t n_pending_frames() const { return framer_.ready_frames(); }  // frames for future jobs

  // Rows [ready_rows()][n_dims()], valid until the next call of extracted() or consume(). Batch normalisation makes no
  // row ready before finish() and the last extracted(), and then some at a time.
  size_t ready_rows() const { return rows_.ready_rows(); }
  const float *rows() const { return rows_.rows(); }
  void consume(size_t n) { rows_.consume(n); }  // drops the first n ready rows

  bool get_state(MeanState *state) const { return rows_.get_state(state); }  // as Normaliser

  bool done() const { return settled_ && ready_rows() == 0; }  // finished, and every row is consumed
  uint32_t n_dims() const { return rows_.n_dims(); }

 private:
  void settle();  // after finish(): ends the later stages after the last frame

  const FeatureTables &tables_;
  uint32_t warp_;
  Framer framer_;
  CepstralRows rows_;
  std::vector<float> extracted_;  // output of the current job: cepstra or log mel energies
  uint32_t job_frames_ = 0;
  bool finished_ = false, settled_ = false;
};

}  // namespace asr
