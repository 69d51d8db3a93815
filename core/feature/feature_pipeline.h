// SPDX-License-Identifier: Apache-2.0
// From the samples of one stream to its feature rows: framing here, cepstra on the device, then normalisation, dynamic
// features and transform here. One for each stream, used by one thread at a time (the engine's). Rows do not depend on how
// the samples were cut into calls, nor on max_frames.
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
  // `tables` must outlive the pipeline. `cmn`: the model's (tables.front_end().cmn) or what the stream asks for instead.
  // `warp`: which filter bank, from tables.warp_index(). `start`: as for Normaliser. Throws asr::Error if the model cannot be
  // normalised that way.
  FeaturePipeline(const FeatureTables &tables, CmnKind cmn, uint32_t warp, const LiveMeanState *start = nullptr);

  void add_samples(const float *samples, size_t n);  // mono, at the front end's rate, scale of 16-bit integers
  void finish();                                     // no more samples; once

  // Makes rows of frames that wait for a better mean.
  void release_waiting() { rows_.release_waiting(); }

  // Describes the next frames whose samples are known, at most max_frames; false if there are none. The job's samples and
  // cepstra are the pipeline's; until extracted() is called no other function may be.
  bool next_extract(asr_extract_job *job, uint32_t max_frames);
  void extracted();                                                     // the job's cepstra are written
  uint64_t n_pending_frames() const { return framer_.ready_frames(); }  // for jobs that come

  // Rows [ready_rows()][n_dims()], valid until the next call of extracted() or consume(). Batch normalisation makes no
  // row ready before finish() and the last extracted().
  size_t ready_rows() const { return rows_.ready_rows(); }
  const float *rows() const { return rows_.rows(); }
  void consume(size_t n) { rows_.consume(n); }  // drops the first n ready rows

  // After the frames extracted so far; nullptr where normalisation keeps none.
  const LiveMeanState *live_state() const { return rows_.live_state(); }

  bool done() const { return settled_ && ready_rows() == 0; }  // finished, and every row was consumed
  uint32_t n_dims() const { return rows_.n_dims(); }

 private:
  void settle();  // after finish(): ends the later stages once the last frame is in

  const FeatureTables &tables_;
  uint32_t warp_;
  Framer framer_;
  CepstralRows rows_;
  std::vector<float> extracted_;  // of the job under way: cepstra, or log mel energies
  uint32_t job_frames_ = 0;
  bool finished_ = false, settled_ = false;
};

}  // namespace asr
