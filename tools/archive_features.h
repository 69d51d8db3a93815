// SPDX-License-Identifier: Apache-2.0
// Feature rows for a model from the matrices of a Kaldi archive. An archive may hold rows of the model's own length, which
// are taken as they are, or cepstra of its front end, to which its normalisation, dynamic features and transform are applied.
// Used by `senone recognize --features`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/import/kaldi_io.h"
#include "core/feature/front_end.h"

namespace asr::tool {

// name: "model", "live", "batch" or "none".
CmnKind cmn_of(const std::string &name, const FrontEnd &front_end);

class ArchiveFeatures {
 public:
  // cmn: "model", "live", "batch" or "none", of cepstra. cmvn: an archive of CMVN statistics to apply instead, by utterance
  // or, with utt2spk (a file of lines "utterance speaker"), by speaker; empty = none.
  ArchiveFeatures(const FrontEnd &front_end, const std::string &cmn, const std::string &cmvn, const std::string &utt2spk);

  // Rows [n][front_end.n_dims()] of the utterance `key`. Throws asr::Error if the matrix fits neither way.
  std::vector<float> rows(const std::string &key, const kaldi::Matrix<float> &matrix) const;

 private:
  struct Normalisation {
    std::vector<float> scales, offsets;  // [n_ceps]: x * scale + offset
  };

  void read_statistics(const std::string &archive);
  const Normalisation &normalisation_of(const std::string &key) const;

  const FrontEnd front_end_;
  CmnKind cmn_;
  std::string cmvn_, utt2spk_;
  std::map<std::string, Normalisation> normalisations_;  // by speaker or utterance
  std::map<std::string, std::string> speaker_of_;
};

}  // namespace asr::tool
