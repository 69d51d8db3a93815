// SPDX-License-Identifier: Apache-2.0
// `senone import kaldi MODEL.mdl OUT_BUNDLE`.
#include <map>
#include <memory>

#include "core/model/import/kaldi.h"
#include "tools/import.h"

namespace asr::tool {
namespace {

ReadModel add_kaldi(CLI::App &app) {
  const auto options = std::make_shared<KaldiOptions>();
  const auto splice = std::make_shared<std::vector<int>>();
  app.add_option("MODEL", options->model, "The model, such as exp/tri3/final.mdl")->required();
  app.add_option("--phones", options->phones, "Names of its phones, such as data/lang/phones.txt");
  app.add_option("--tree", options->tree, "Its decision tree, such as exp/tri3/tree, to build graphs for it");
  app.add_option("--mfcc-conf", options->mfcc_conf, "Options of compute-mfcc-feats, such as conf/mfcc.conf");
  app.add_option("--lda", options->lda, "Matrix applied to the features, such as exp/tri3/final.mat");
  app.add_option("--splice", *splice, "Frames left and right of each that the matrix takes (default: by its columns)")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::Range(0, 64));
  app.add_flag("--deltas", options->deltas, "Deltas and accelerations (default without --lda: by the dimension)");
  app.add_option("--cmn", options->cmn, "Mean normalisation: none, utterance or live")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, CmnKind>{{"none", CmnKind::kNone}, {"utterance", CmnKind::kBatch}, {"live", CmnKind::kLive}}));
  app.add_flag("--cmn-variance", options->cmn_variance, "Variance normalisation too (only with --cmn utterance)");
  app.add_option("--cmvn-stats", options->cmvn_stats,
                 "CMVN statistics (a matrix, ark:FILE or scp:FILE) whose mean live normalisation starts with");
  app.add_flag("--features-only", options->features_only, "The features come from archives; audio is not recognised");
  return [options, splice] {
    if (!splice->empty()) {
      options->splice_left = splice->at(0);
      options->splice_right = splice->at(1);
    }
    return import_kaldi(*options);
  };
}

const ImportKind kRegistration{"kaldi", "a GMM model of Kaldi", add_kaldi};

}  // namespace
}  // namespace asr::tool
