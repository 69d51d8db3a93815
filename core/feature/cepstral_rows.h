// SPDX-License-Identifier: Apache-2.0
// CepstralRows turns the cepstra of a signal's frames into feature rows: noise removal, normalisation, dynamic features and
// transform. It is a stage of FeaturePipeline; a search for a warp has one per warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/dynamic.h"
#include "core/feature/mfcc_tables.h"
#include "core/feature/noise_removal.h"
#include "core/feature/normalise.h"

namespace asr {

class CepstralRows {
 public:
  // `tables` must outlive this. `start`: as for Normaliser. Throws asr::Error if the model cannot be normalised that way.
  CepstralRows(const FeatureTables &tables, CmnKind cmn, const MeanState *start = nullptr);

  // Takes the next frames, [n_frames][tables.view()->n_ceps]: cepstra, or log mel energies if the front end removes noise.
  void add(const std::vector<float> &extracted, size_t n_frames);
  void release_waiting();  // makes rows of frames held back for a better mean
  void finish();           // call once, after the last frame

  // Rows [ready_rows()][n_dims()], valid until the next call of another function. Batch normalisation makes none before
  // finish(); then it makes some at a time, and the next ones when they are consumed.
  size_t ready_rows() const { return dynamic_.ready_rows(); }
  const float *rows() const { return dynamic_.rows(); }
  void consume(size_t n);  // drops the first n ready rows
  uint32_t n_dims() const { return dynamic_.n_dims(); }

  bool get_state(MeanState *state) const { return normaliser_.get_state(state); }  // as Normaliser

 private:
  void pass_on();  // passes normalised_ on to dynamic_
  void go_on();    // after finish(): makes rows ready if there are more

  const FeatureTables &tables_;
  NoiseRemoval noise_removal_;
  Normaliser normaliser_;
  DynamicFeatures dynamic_;
  std::vector<float> clean_;       // cepstra after noise removal
  std::vector<float> normalised_;  // cepstra on their way from normaliser_ to dynamic_
  bool finished_ = false;
};

}  // namespace asr
