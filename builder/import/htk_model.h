// SPDX-License-Identifier: Apache-2.0
// A set of HMMs as HTK understands it (shared states, variances, transition matrices), read from hmmdefs text or from
// Julius' binary form, and its turning into Senone's. Called by htk.cc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/acoustic_model.h"
#include "core/model/hmm_set.h"

namespace asr::htk {

constexpr uint32_t kNone = 0xffffffffu;

// Parameter kinds: a base code and qualifier bits, as in HTK's files.
constexpr uint16_t kBaseMask = 077, kMfcc = 6;
constexpr uint16_t kEnergy = 0100, kNoAbsoluteEnergy = 0200, kDelta = 0400, kAcceleration = 01000, kZeroMean = 04000,
                   kC0 = 020000, kThirdDelta = 0100000;

struct Density {
  std::vector<float> mean;
  uint32_t covariance = 0;
};

struct Mixture {                    // of one stream of a state
  std::vector<uint32_t> densities;  // unless a codebook is named
  uint32_t codebook = kNone;
  std::vector<float> log_weights;
};

struct State {
  std::vector<Mixture> streams;
};

struct TransitionMatrix {
  uint32_t n = 0;             // states, the first and the last of which do not emit
  std::vector<double> probs;  // [n][n], 0 = not allowed
};

struct HmmDefinition {
  std::string name;
  std::vector<uint32_t> states;  // the emitting ones
  uint32_t transitions = 0;
};

struct ModelSet {
  uint16_t kind = 0;
  asr_covariance covariance = ASR_COVARIANCE_DIAGONAL;
  std::vector<uint32_t> stream_dims;            // consecutive features
  std::vector<std::vector<float>> covariances;  // inverse: the diagonal, or the lower triangle by rows
  std::vector<Density> densities;
  std::vector<std::vector<uint32_t>> codebooks;  // of densities, for tied mixtures
  std::vector<State> states;
  std::vector<TransitionMatrix> transitions;
  std::vector<HmmDefinition> hmms;
};

// "MFCC_D_A_0", in upper case; false if it is no parameter kind.
bool parse_kind(const std::string &text, uint16_t *kind);

ModelSet read_hmmdefs(const std::vector<std::string> &paths);  // macro files first, read as one
ModelSet read_binhmm(const std::string &path);                 // Julius, JBINHMM version 1

AcousticModel make_acoustic_model(const ModelSet &set, const std::string &source);

// logical: names of phones in context and the HMM each stands for; empty = the HMMs' own names. A name is "base" with
// "left-" before and "+right" after it, each optional.
HmmSet make_hmm_set(const ModelSet &set, const std::vector<std::pair<std::string, std::string>> &logical,
                    const std::string &source);

}  // namespace asr::htk
