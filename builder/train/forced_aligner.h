// SPDX-License-Identifier: Apache-2.0
// Forced alignment: the state of each frame on the best path through the transcript's graph. A frame may have shares of
// states in the lattice of that graph instead. Scores and searches on a device, several utterances side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/train/state_shares.h"
#include "core/backend/registry.h"
#include "core/graph/graph.h"
#include "core/model/acoustic_model.h"

namespace asr::train {

struct AlignmentJob {
  const float *rows = nullptr;  // [n_rows][n_dims]; those of the job before it, if it has the same, are scored once for both
  uint32_t n_rows = 0;
  float beam_share = 1;  // of the aligner's beam
  GraphData graph;
  // Results: each row's pdf, transition of the graph and acoustic cost, the words of the path, and the rows' shares if there is
  // a lattice; or none, and why.
  std::vector<uint32_t> states, transition_ids, words;
  std::vector<float> costs;  // negative log-likelihoods
  std::vector<StateShare> shares;
  std::string problem;
};

// Scores are not scaled: forced paths differ by where states begin, which the model's scores alone decide.
class ForcedAligner {
 public:
  // The device must outlive this and have been opened with options(). Widths are of the search, in natural log; without
  // lattice_beam there are no shares.
  ForcedAligner(const Device &device, const AcousticModel &model, double beam, double lattice_beam = 0);
  ~ForcedAligner();
  ForcedAligner(const ForcedAligner &) = delete;
  ForcedAligner &operator=(const ForcedAligner &) = delete;

  static constexpr uint32_t kMaxJobs = 16;
  static asr_backend_options options(uint32_t n_threads, uint32_t n_jobs = kMaxJobs);  // n_jobs: of a call of align()

  // At most kMaxJobs, or as many as the options say. widening: a factor for the beam of this call.
  void align(std::vector<AlignmentJob> *jobs, double widening = 1) const;

  // Returns log p(rows[i] | states[i]) of any number of rows; one that is named again at once is scored once.
  std::vector<float> log_likelihoods(const std::vector<const float *> &rows, const std::vector<uint32_t> &states) const;

 private:
  class Search;

  const Device &device_;
  const uint32_t n_dims_, n_states_;
  const asr_search_options search_;
  asr_backend_acoustic *acoustic_ = nullptr;
};

}  // namespace asr::train
