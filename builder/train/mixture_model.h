// SPDX-License-Identifier: Apache-2.0
// Gaussian mixtures while they are trained: in double, with covariances in the place of precisions. Made of an acoustic model
// or from scratch, changed by the other files of this folder, and turned into an acoustic model again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/acoustic_model.h"
#include "core/model/hmm_set.h"

namespace asr::train {

// Gaussians of one feature stream, of one state or of several. A state has a row of weights; states may share a row.
struct Mixture {
  uint32_t stream = 0;
  std::vector<double> means;  // [n_gaussians][d]
  // [n_gaussians][d], or lower triangles by rows: [n_gaussians][d * (d + 1) / 2]. Each Gaussian has a copy of a shared one.
  std::vector<double> covariances;
  std::vector<double> weights;         // [n_rows][n_gaussians]; each row adds up to 1
  std::vector<double> occupancies;     // [n_gaussians]: frames that each was estimated from; 0 where it was not
  std::vector<double> prior_weights;   // as weights: start weights of states that share Gaussians; empty: no prior
  std::vector<uint32_t> classes = {};  // [n_gaussians]: covariance classes of the stream; empty unless kClasses
  size_t n_gaussians() const { return occupancies.size(); }
  size_t n_weight_rows() const { return weights.size() / occupancies.size(); }
};

// The Gaussians that have a covariance, or its correlations, in common.
enum class CovarianceSharing {
  kNone,
  kState,    // within a mixture: of a state and stream, or of a codebook that states share
  kAll,      // within a stream
  kClasses,  // within a class of a stream's Gaussians, found by likelihood
};

struct MixtureModel {
  bool full = false;  // covariances
  CovarianceSharing sharing = CovarianceSharing::kNone;
  bool shares_correlations = false;  // and not variances
  uint32_t n_dims = 0;
  std::vector<GmmStream> streams;
  std::vector<Mixture> mixtures;
  std::vector<uint32_t> state_mixture;     // [n_states][n_streams]
  std::vector<uint32_t> state_weight_row;  // [n_states][n_streams], of that mixture

  uint32_t n_states() const { return static_cast<uint32_t>(state_mixture.size() / streams.size()); }
  uint64_t n_gaussians() const;
  uint64_t n_parameters() const;  // counts means, covariances and weights
  size_t n_values(const Mixture &mixture) const { return streams[mixture.stream].dims.size(); }
  size_t covariance_size(const Mixture &mixture) const {
    const size_t d = n_values(mixture);
    return full ? d * (d + 1) / 2 : d;
  }
};

// Gaussians that shared a covariance get one of their own each.
MixtureModel to_mixtures(const AcousticModel &model);

// Throws ASR_BAD_FILE naming `source` where the numbers do not fit in float.
AcousticModel to_acoustic_model(const MixtureModel &model, const std::string &source);

// Replaces the model's Gaussians by one for each group of states and stream, with the mean and variance [n_dims] given.
// groups: [n_states], numbers from 0 on without gaps.
MixtureModel flat_start(const AcousticModel &model, const std::vector<uint32_t> &groups, const std::vector<double> &mean,
                        const std::vector<double> &variance);

// Gives every state a mixture of its own in each stream, a copy of the one that it shared.
void untie(MixtureModel *model);

// Diagonal covariances become full ones, with zeros beside the diagonal.
void make_full(MixtureModel *model);

// States of a phone's HMMs in any context form a group with the same state of its context-independent HMM. A state that several
// phones use is in the group of the first.
std::vector<uint32_t> phone_groups(const HmmSet &set);

// Returns for each pdf whether only silence and filler phones have it, and for each mixture whether all its states are such.
std::vector<bool> filler_pdfs(const HmmSet &set);
std::vector<bool> silent_mixtures(const MixtureModel &model, const std::vector<bool> &filler_pdfs);

}  // namespace asr::train
