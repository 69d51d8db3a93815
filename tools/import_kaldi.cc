// SPDX-License-Identifier: Apache-2.0
// Implements `senone import kaldi MODEL.mdl OUT_BUNDLE`.
#include <memory>

#include "builder/import/kaldi.h"
#include "tools/import.h"

namespace asr::tool {
namespace {

CmnKind cmn_kind(const std::string &name) {
  if (name == "none") return CmnKind::kNone;
  return name == "live" ? CmnKind::kLive : CmnKind::kBatch;
}

ReadModel add_kaldi(Command app) {
  const auto options = std::make_shared<KaldiOptions>();
  const auto splice = std::make_shared<std::vector<int>>();
  const auto cmn = std::make_shared<std::string>("utterance");
  app.option("MODEL", options->model, "The model, such as exp/tri3/final.mdl").required();
  app.option("--phones", options->phones, "Names of its phones, such as data/lang/phones.txt");
  app.option("--word-boundary", options->word_boundary,
             "Positions of its phones in words, data/lang/phones/word_boundary.int (default: by their names, _B _E _I _S)");
  app.option("--silence", options->silence,
             "Its phones of silence, such as pau,sp, or their silence.csl (default: SIL or sil)");
  app.option("--tree", options->tree, "Its decision tree, such as exp/tri3/tree, to build graphs for it");
  app.option("--mfcc-conf", options->mfcc_conf, "Options of compute-mfcc-feats, such as conf/mfcc.conf");
  app.option("--plp-conf", options->plp_conf, "Options of compute-plp-feats, for a model of PLP instead of MFCC");
  app.option("--lda", options->lda, "Matrix applied to the features, such as exp/tri3/final.mat");
  app.option("--splice", *splice, "Frames left and right of each that the matrix takes (default: by its columns)")
      .separated_by(',')
      .takes(2)
      .range(0, 64);
  app.flag("--deltas", options->deltas, "Deltas and accelerations (default without --lda: by the dimension)");
  app.option("--cmn", *cmn, "Mean normalisation: none, utterance or live").one_of({"none", "utterance", "live"});
  app.flag("--cmn-variance", options->cmn_variance, "Variance normalisation too (only with --cmn utterance)");
  app.option("--cmvn-stats", options->cmvn_stats,
             "CMVN statistics (a matrix, ark:FILE or scp:FILE) whose mean live normalisation starts with");
  app.flag("--transitions-only", options->transitions_only,
           "Read the transition model alone, such as a neural network's: log-likelihoods come from archives");
  app.option("--frame-shift-ms", options->frame_shift_ms, "From one row of these to the next; 30 for chain models")
      .range(0.1, 500.0)
      .shows_default()
      .needs("--transitions-only");
  app.flag("--features-only", options->features_only, "The features come from archives; audio is not recognised");
  return [options, splice, cmn] {
    if (!splice->empty()) {
      options->splice_left = splice->at(0);
      options->splice_right = splice->at(1);
    }
    options->cmn = cmn_kind(*cmn);
    return import_kaldi(*options);
  };
}

const ImportKind kImportKaldi{"kaldi", "a GMM model of Kaldi, or the transitions of any", add_kaldi};

}  // namespace
}  // namespace asr::tool
