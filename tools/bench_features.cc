// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_features.h"

#include "builder/import/kaldi_archive.h"
#include "core/model/bundle.h"
#include "tools/archive_features.h"
#include "tools/scorer.h"

namespace asr::tool {
namespace {

std::string specifier_of(const std::string &archive) {
  const bool has_prefix = archive.rfind("ark:", 0) == 0 || archive.rfind("scp:", 0) == 0;
  return has_prefix ? archive : "ark:" + archive;
}

}  // namespace

FeatureRows read_feature_rows(const std::string &bundle, const std::string &archive) {
  const FrontEnd front_end = read_bundle(bundle).front_end;
  const ArchiveFeatures maker(front_end, "model", "", "");
  FeatureRows all;
  all.n_dims = front_end.n_dims();
  kaldi::ArchiveReader reader(specifier_of(archive));
  std::string key;
  for (kaldi::Matrix<float> matrix; reader.next(&key, &matrix);) {
    const std::vector<float> rows = maker.rows(key, matrix);
    if (rows.empty()) continue;
    all.n_frames.push_back(static_cast<uint32_t>(rows.size() / all.n_dims));
    all.values.insert(all.values.end(), rows.begin(), rows.end());
  }
  if (all.n_frames.empty()) fail(ASR_BAD_FILE, "%s: no frames in it; give an archive of features", archive.c_str());
  return all;
}

FeatureRows read_loglike_rows(const std::string &bundle, const std::string &archive) {
  const std::optional<ScoreModel> scores = read_bundle(bundle).scores;
  if (!scores) fail(ASR_UNSUPPORTED, "%s: the model has Gaussians; give an archive of features instead", bundle.c_str());
  FeatureRows all;
  all.n_dims = scores->n_columns();
  kaldi::ArchiveReader reader(specifier_of(archive));
  std::string key;
  for (kaldi::Matrix<float> matrix; reader.next(&key, &matrix);) {
    if (matrix.n_rows == 0) continue;
    if (matrix.n_cols != all.n_dims) {
      fail(ASR_BAD_FILE, "%s: %s has %u columns; the model has %u", archive.c_str(), key.c_str(), matrix.n_cols, all.n_dims);
    }
    all.n_frames.push_back(matrix.n_rows);
    all.values.insert(all.values.end(), matrix.values.begin(), matrix.values.end());
  }
  if (all.n_frames.empty()) fail(ASR_BAD_FILE, "%s: no frames in it; give an archive of log-likelihoods", archive.c_str());
  return all;
}

std::vector<float> score_rows(const BenchOptions &options, const std::string &bundle, const FeatureRows &features) {
  const Device device(choose_device(options.device), backend_options(options, Scorer::kRowsAtOnce));
  return Scorer(device, read_bundle(bundle)).score(features.values);
}

}  // namespace asr::tool
