// SPDX-License-Identifier: Apache-2.0
// ModelSet is a set of HMMs in HTK's terms (shared states, variances, transition matrices). It is read from hmmdefs text or
// from Julius' binary form, and converted to Senone's types. Called by htk.cc.
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
constexpr uint16_t kBaseMask = 077, kMfcc = 6, kPlp = 11;
constexpr uint16_t kEnergy = 0100, kNoAbsoluteEnergy = 0200, kDelta = 0400, kAcceleration = 01000, kZeroMean = 04000,
                   kC0 = 020000, kThirdDelta = 0100000;

struct Density {
  std::vector<float> mean;
  uint32_t covariance = 0;
};

struct Mixture {                    // mixture of one stream of a state
  std::vector<uint32_t> densities;  // empty if a codebook is named
  uint32_t codebook = kNone;
  std::vector<float> log_weights;
};

struct State {
  std::vector<Mixture> streams;
};

struct TransitionMatrix {
  uint32_t n = 0;             // number of states; the first and the last do not emit
  std::vector<double> probs;  // [n][n], 0 = not allowed
};

struct HmmDefinition {
  std::string name;
  std::vector<uint32_t> states;  // the emitting states
  uint32_t transitions = 0;
};

struct ModelSet {
  uint16_t kind = 0;
  asr_covariance covariance = ASR_COVARIANCE_DIAGONAL;
  std::vector<uint32_t> stream_dims;            // dimensions of consecutive features
  std::vector<std::vector<float>> covariances;  // inverse covariances: the diagonal, or the lower triangle by rows
  std::vector<Density> densities;
  std::vector<std::vector<uint32_t>> codebooks;  // lists of densities, for tied mixtures
  std::vector<State> states;
  std::vector<TransitionMatrix> transitions;
  std::vector<HmmDefinition> hmms;
};

// Parses "MFCC_D_A_0", in upper case; false if it is not a parameter kind.
bool parse_kind(const std::string &text, uint16_t *kind);

ModelSet read_hmmdefs(const std::vector<std::string> &paths);  // macro files first; all are read as one file
ModelSet read_binhmm(const std::string &path);                 // Julius, JBINHMM version 1

AcousticModel make_acoustic_model(const ModelSet &set, const std::string &source);

// logical: names of phones in context with their HMMs; empty = the HMMs' own names. A name is "base" with an optional "left-"
// before and an optional "+right" after it.
HmmSet make_hmm_set(const ModelSet &set, const std::vector<std::pair<std::string, std::string>> &logical,
                    const std::string &source);

}  // namespace asr::htk
