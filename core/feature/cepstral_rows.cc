// SPDX-License-Identifier: Apache-2.0
#include "core/feature/cepstral_rows.h"

namespace asr {

CepstralRows::CepstralRows(const FeatureTables &tables, CmnKind cmn, const MeanState *start)
    : tables_(tables),
      noise_removal_(tables),
      normaliser_(tables.front_end(), cmn, start),
      dynamic_(*tables.view()->dynamics) {}

void CepstralRows::add(const std::vector<float> &extracted, size_t n_frames) {
  const float *cepstra = extracted.data();
  if (tables_.front_end().noise_removal) {
    clean_.clear();
    noise_removal_.push(cepstra, n_frames, &clean_);
    cepstra = clean_.data();
  }
  normalised_.clear();
  normaliser_.push(cepstra, n_frames, &normalised_);
  pass_on();
}

void CepstralRows::release_waiting() {
  normalised_.clear();
  normaliser_.release_waiting(&normalised_);
  pass_on();
}

void CepstralRows::finish() {
  normalised_.clear();
  normaliser_.finish(&normalised_);
  pass_on();
  finished_ = true;
  go_on();
}

void CepstralRows::consume(size_t n) {
  dynamic_.consume(n);
  if (finished_ && ready_rows() == 0) go_on();
}

void CepstralRows::go_on() {
  normalised_.clear();
  while (ready_rows() == 0 && normaliser_.take(&normalised_)) {
    pass_on();
    normalised_.clear();
  }
  if (!normaliser_.has_blocks()) dynamic_.finish();
}

void CepstralRows::pass_on() { dynamic_.push(normalised_.data(), normalised_.size() / tables_.front_end().n_ceps); }

}  // namespace asr
