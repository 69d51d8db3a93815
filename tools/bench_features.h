// SPDX-License-Identifier: Apache-2.0
// Reads archives of features for benchmarks: rows of all utterances, and their scores. bench_search.cc and
// bench_stream_features.cc use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench.h"

namespace asr::tool {

// Rows of consecutive utterances.
struct FeatureRows {
  uint32_t n_dims = 0;
  std::vector<uint32_t> n_frames;  // frames of each utterance
  std::vector<float> values;       // [sum of n_frames][n_dims]

  uint64_t n_rows() const { return n_dims == 0 ? 0 : values.size() / n_dims; }
};

// Reads "ark:FILE" or "scp:FILE"; without a prefix, the archive FILE. Rows are the same as in `senone recognize --features`
// with the bundle's model. Utterances without frames are left out.
FeatureRows read_feature_rows(const std::string &bundle, const std::string &archive);

// The same for an archive of log-likelihoods, for a bundle without Gaussians: n_dims columns of its network.
FeatureRows read_loglike_rows(const std::string &bundle, const std::string &archive);

// Returns the scores [n_rows][n_pdfs] of all rows, computed on the device of the options with the bundle's model.
std::vector<float> score_rows(const BenchOptions &options, const std::string &bundle, const FeatureRows &features);

}  // namespace asr::tool
