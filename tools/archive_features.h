// SPDX-License-Identifier: Apache-2.0
// ArchiveFeatures makes a model's feature rows from the matrices of a Kaldi archive. Rows of the model's own length are used
// unchanged. Cepstra of its front end go through normalisation, dynamic features and transform. `senone recognize --features`
// uses it.
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
  // cmn: normalisation of cepstra, "model", "live", "batch" or "none". cmvn: an archive of CMVN statistics to apply instead, by
  // utterance or, with utt2spk (a file of lines "utterance speaker"), by speaker; empty = none.
  ArchiveFeatures(const FrontEnd &front_end, const std::string &cmn, const std::string &cmvn, const std::string &utt2spk);

  // Returns rows [n][front_end.n_dims()] of the utterance `key`. Throws asr::Error if the matrix fits neither way.
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
  std::map<std::string, Normalisation> normalisations_;  // key: speaker or utterance
  std::map<std::string, std::string> speaker_of_;
};

}  // namespace asr::tool
