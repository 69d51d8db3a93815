// SPDX-License-Identifier: Apache-2.0
#include "tools/archive_features.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "builder/import/kaldi_archive.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/feature/dynamic.h"
#include "core/feature/dynamic_tables.h"
#include "core/feature/normalise.h"
#include "tools/speakers.h"

namespace asr::tool {
namespace {

constexpr double kVarianceFloor = 1e-20;

}  // namespace

CmnKind cmn_of(const std::string &name, const FrontEnd &front_end) {
  if (name == "live") return CmnKind::kLive;
  if (name == "batch") return CmnKind::kBatch;
  return name == "none" ? CmnKind::kNone : front_end.cmn;
}

ArchiveFeatures::ArchiveFeatures(const FrontEnd &front_end, const std::string &cmn, const std::string &cmvn,
                                 const std::string &utt2spk)
    : front_end_(front_end), cmn_(cmvn.empty() ? cmn_of(cmn, front_end) : CmnKind::kNone), cmvn_(cmvn), utt2spk_(utt2spk) {
  if (!cmvn.empty()) read_statistics(cmvn);
  if (!utt2spk.empty()) speaker_of_ = read_utt2spk(utt2spk);
}

// Reads statistics of two rows: sums of the cepstra with the number of frames last, and sums of their squares.
void ArchiveFeatures::read_statistics(const std::string &archive) {
  const uint32_t n_ceps = front_end_.n_ceps;
  for (const auto &[key, stats] : kaldi::read_archive<double>(archive)) {
    if (stats.n_rows < (front_end_.cmn_variance ? 2u : 1u) || stats.n_cols != n_ceps + 1) {
      fail(ASR_BAD_FILE, "%s: '%s' is not CMVN statistics of %u cepstra", archive.c_str(), key.c_str(), n_ceps);
    }
    const double count = stats.row(0)[n_ceps];
    if (!(count > 0)) fail(ASR_BAD_FILE, "%s: '%s' counts no frames", archive.c_str(), key.c_str());
    Normalisation &normalisation = normalisations_[key];
    for (uint32_t i = 0; i < n_ceps; ++i) {
      const double mean = stats.row(0)[i] / count;
      double scale = 1;
      if (front_end_.cmn_variance) scale = 1 / std::sqrt(std::max(stats.row(1)[i] / count - mean * mean, kVarianceFloor));
      normalisation.scales.push_back(static_cast<float>(scale));
      normalisation.offsets.push_back(static_cast<float>(-mean * scale));
    }
  }
}

const ArchiveFeatures::Normalisation &ArchiveFeatures::normalisation_of(const std::string &key) const {
  std::string name = key;
  if (!utt2spk_.empty()) {
    const auto speaker = speaker_of_.find(key);
    if (speaker == speaker_of_.end()) {
      fail(ASR_NOT_FOUND, "%s: names no speaker of \"%s\"; add a line \"%s SPEAKER\"", utt2spk_.c_str(), key.c_str(),
           key.c_str());
    }
    name = speaker->second;
  }
  const auto found = normalisations_.find(name);
  if (found == normalisations_.end()) {
    fail(ASR_NOT_FOUND, "%s: has no statistics of '%s'%s", cmvn_.c_str(), name.c_str(),
         utt2spk_.empty() ? "; give --utt2spk if they are by speaker" : "");
  }
  return found->second;
}

std::vector<float> ArchiveFeatures::rows(const std::string &key, const kaldi::Matrix<float> &matrix) const {
  const uint32_t n_ceps = front_end_.n_ceps, n_dims = front_end_.n_dims();
  const bool are_cepstra = matrix.n_cols == n_ceps && (n_ceps != n_dims || !cmvn_.empty());
  if (matrix.n_cols == n_dims && !are_cepstra && !cmvn_.empty()) {
    fail(ASR_BAD_FILE, "%s: rows have %u values, the model's features, but --cmvn is for cepstra of %u; leave it out",
         key.c_str(), n_dims, n_ceps);
  }
  if (matrix.n_rows == 0 || (matrix.n_cols == n_dims && !are_cepstra)) return matrix.values;
  if (!are_cepstra) {
    const std::string cepstra = n_ceps == n_dims ? "" : format(", or cepstra of %u", n_ceps);
    fail(ASR_BAD_FILE, "%s: rows have %u values; the model takes features of %u%s", key.c_str(), matrix.n_cols, n_dims,
         cepstra.c_str());
  }
  std::vector<float> cepstra = matrix.values;
  if (!cmvn_.empty()) {
    const Normalisation &normalisation = normalisation_of(key);
    for (size_t i = 0; i < cepstra.size(); ++i) {
      cepstra[i] = cepstra[i] * normalisation.scales[i % n_ceps] + normalisation.offsets[i % n_ceps];
    }
  }
  std::vector<float> normalised;
  Normaliser normaliser(front_end_, cmn_);
  normaliser.push(cepstra.data(), matrix.n_rows, &normalised);
  normaliser.finish(&normalised);
  while (normaliser.take(&normalised)) continue;
  const DynamicTables tables(front_end_);
  DynamicFeatures dynamic(*tables.view());
  dynamic.push(normalised.data(), matrix.n_rows);
  dynamic.finish();
  return std::vector<float>(dynamic.rows(), dynamic.rows() + dynamic.ready_rows() * n_dims);
}

}  // namespace asr::tool
