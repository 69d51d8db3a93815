// SPDX-License-Identifier: Apache-2.0
// Imports a Kaldi GMM model: .mdl, and what its recipe says about the features. Called by tools/import_kaldi.cc.
#pragma once

#include <string>

#include "builder/import/imported_model.h"

namespace asr {

struct KaldiOptions {
  std::string model;       // .mdl
  std::string phones;      // phones.txt; empty = phones are named by their numbers
  std::string tree;        // which pdf is for which context of phones; empty = only graphs made for the model fit
  std::string mfcc_conf;   // options of compute-mfcc-feats; empty = its defaults
  std::string lda;         // LDA, LDA+MLLT or another matrix applied to spliced or delta features
  std::string cmvn_stats;  // archive or single matrix of statistics: the mean that live normalisation starts with
  int splice_left = -1, splice_right = -1;  // frames around each for the matrix; -1 = as its columns ask for
  bool deltas = false;  // with lda: deltas and accelerations under the matrix; without: found by the dimension
  CmnKind cmn = CmnKind::kBatch;
  bool cmn_variance = false;
  bool features_only = false;  // the model's features come from archives, not from audio
};

ImportedModel import_kaldi(const KaldiOptions &options);

// The front end that a file of compute-mfcc-feats options ("--name=value" lines) describes.
FrontEnd read_mfcc_conf(const std::string &path);

}  // namespace asr
