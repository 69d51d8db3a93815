// SPDX-License-Identifier: Apache-2.0
// Imports a Kaldi GMM model: .mdl, and the feature settings of its recipe. Called by tools/import_kaldi.cc.
#pragma once

#include <string>

#include "builder/import/imported_model.h"

namespace asr {

struct KaldiOptions {
  std::string model;                        // .mdl
  std::string phones;                       // phones.txt; empty = phones are named by their numbers
  std::string word_boundary;                // positions of phones in words; empty = by _B _E _I _S if a phone has all four
  std::string silence;                      // its phones of silence, or a silence.csl; empty = SIL or sil
  std::string tree;                         // maps contexts of phones to pdfs; empty = only graphs made for the model fit
  std::string mfcc_conf;                    // options of compute-mfcc-feats; empty = its defaults
  std::string plp_conf;                     // options of compute-plp-feats, for a model of PLP; excludes mfcc_conf
  std::string lda;                          // LDA, LDA+MLLT or another matrix applied to spliced or delta features
  std::string cmvn_stats;                   // archive or single matrix of statistics: the initial mean of live normalisation
  int splice_left = -1, splice_right = -1;  // frames around each for the matrix; -1 = derived from its columns
  bool deltas = false;  // with lda: deltas and accelerations before the matrix; without: inferred from the dimension
  CmnKind cmn = CmnKind::kBatch;
  bool cmn_variance = false;
  bool features_only = false;  // the model's features come from archives, not from audio
  // The log-likelihoods come from archives, every frame_shift_ms: of the model's file only the transition model is read.
  bool transitions_only = false;
  double frame_shift_ms = 10;
};

ImportedModel import_kaldi(const KaldiOptions &options);

// Returns the front end described by a file of compute-mfcc-feats options ("--name=value" lines).
FrontEnd read_mfcc_conf(const std::string &path);
FrontEnd read_plp_conf(const std::string &path);  // the same of compute-plp-feats

}  // namespace asr
