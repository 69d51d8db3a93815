// SPDX-License-Identifier: Apache-2.0
// ScoreModel replaces the Gaussians of a bundle whose log-likelihoods are computed elsewhere, by a neural network: the rows
// that its engine is fed, and how they become log-likelihoods of the states of hmms.bin (docs/ctc.md). It is stored in
// senone.json ("scores"). Importers fill one; FedRows and the graph builder read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace asr {

class JsonWriter;

constexpr uint32_t kNoToken = 0xffffffffu;

// How the frames of a token follow each other.
enum class TokenTopology {
  kNone,        // the states are those of HMMs (hmms.bin), not tokens
  kCtc,         // blanks between tokens; a token that is repeated has one in between
  kCtcCompact,  // the same, without the demand on repeated tokens
  kHmm,         // one state a token, no blank
};

// Rows of n_columns() values become rows of n_states, by S1 of docs/equations.md.
struct ScoreModel {
  uint32_t n_states = 0;
  TokenTopology topology = TokenTopology::kNone;
  uint32_t blank = kNoToken;              // of CTC
  uint32_t delimiter = kNoToken;          // the token between words; kNoToken: none
  std::vector<uint32_t> state_of_column;  // several columns of a state are added; kNoToken: unused. Empty: one to one
  std::vector<float> log_priors;          // [n_states], or empty
  std::vector<float> piece_scores;        // [n_states] of SentencePiece, by which words are spelled; or empty
  double prior_scale = 0;                 // how much of the priors is taken off
  double blank_penalty = 0;               // taken off the blank

  uint32_t n_columns() const { return state_of_column.empty() ? n_states : static_cast<uint32_t>(state_of_column.size()); }
  bool has_blank() const { return blank != kNoToken; }
  void validate(const std::string &source) const;  // throws asr::Error naming the field
};

void write_score_model(const ScoreModel &model, JsonWriter *json);
ScoreModel score_model_from_json(const nlohmann::json &json, const std::string &source);  // validated

}  // namespace asr
