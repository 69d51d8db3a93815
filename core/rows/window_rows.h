// SPDX-License-Identifier: Apache-2.0
// WindowRows holds the rows of all streams in a window of the scheduler, has them scored together, and knows where their
// log-likelihoods are. Each stream's RowSource adds its rows. A call that fails adds none, and leaves the rows of other streams
// as they are. Used by the engine's thread.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/loaded_model.h"
#include "core/rows/fused_models.h"
#include "core/stream/given_rows.h"

namespace asr {

class SpeakerTrack;

class WindowRows {
 public:
  // buffer: the score buffer that the window uses. At most max_lanes streams add rows.
  WindowRows(const LoadedModel &model, uint32_t buffer);

  void clear();

  // A stream's log-likelihoods: from first_row on, in rows on the host or in the score buffer.
  struct Place {
    const std::vector<float> *loglikes = nullptr;  // on the host; nullptr: the score buffer
    size_t first_row = 0;
    bool returns_rows = false;  // the device's rows come to the host, without the speaker's transform
  };

  // Adds a stream's next n rows: features, which its speaker takes unless that is nullptr and whose model then scores
  // them, or log-likelihoods.
  Place add_features(const float *rows, size_t n, SpeakerTrack *speaker);
  Place add_loglikes(const float *rows, size_t n);
  // Adds the rows of a job of the fused step; its first_row is ignored. Needs no memory. returns_rows: of a signal
  // only.
  Place add_step(asr_step_job job, bool returns_rows = false) noexcept;
  // Adds n rows of features, of each of the source's front ends, whose log-likelihoods are to be fused.
  Place add_fused(std::shared_ptr<FusedModels> models, const RowSource &source, size_t n);

  // The same rows, whose log-likelihoods come to the host: those of a source's front ends, or those of one model's.
  Place add_for_host(std::shared_ptr<FusedModels> models, const RowSource &source, size_t n);
  Place add_for_host(std::shared_ptr<FusedModels> model, const float *rows, size_t n);

  // Adds a stream's next rows in memory of the device, which reads them into the score buffer.
  Place add_given(const std::shared_ptr<asr_backend_given_map> &map, std::vector<GivenSpan> spans);

  // Issues the scoring. The scores are valid once the device has been awaited, and scores that the host fuses after
  // combine().
  void score();
  bool is_fused_here() const { return fused_.has_host_parts(); }
  size_t n_fused_parts() const { return fused_.n_scored_parts(); }
  void combine(size_t fused_part) noexcept;  // any thread

  // Rows that the device returned, once the scoring has been awaited; nullptr if it returns none.
  const float *returned_rows(const Place &place) const;

  // Returns log-likelihoods that are on the host, after combine().
  const float *loglikes(const Place &place) const { return place.loglikes->data() + place.first_row * model_.n_states(); }

  // Throws if one of n rows at a place, read in memory of the device, is none that can be searched; as returned_rows().
  void check_given(const Place &place, size_t n) const;

  // Sets where a job's log-likelihoods are.
  void locate(const Place &place, asr_advance_job *job) const;

 private:
  void score_steps();
  void read_given();
  float *const *reserve_returned();

  const LoadedModel &model_;
  const uint32_t buffer_;
  std::vector<float> features_, loglikes_;  // rows of the host, of n_dims, of n_states
  FusedWindow fused_;                       // whose results are among the log-likelihoods, or replace rows of the score buffer
  std::vector<asr_step_job> steps_;         // scored jobs, in the order of their rows
  std::vector<bool> returns_;               // flag of each step: its rows come to the host
  std::vector<float> returned_;             // rows of the score buffer, if any step's come; only grows
  std::vector<float *> returned_to_;        // rows of each step; NULL: its rows do not come
  struct Given {
    std::shared_ptr<asr_backend_given_map> map;
    GivenSpan span;
    uint32_t first_row;
  };
  std::vector<Given> given_;      // in the order of their rows; then there are no steps
  std::vector<uint32_t> faults_;  // of these rows; only grows
  uint32_t n_rows_ = 0;           // rows of the score buffer
  std::vector<float> scores_;     // the score buffer on the host, if another device searches; only grows
};

}  // namespace asr
