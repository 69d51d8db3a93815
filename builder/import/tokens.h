// SPDX-License-Identifier: Apache-2.0
// Makes the first half of a bundle for a network whose outputs are tokens: phones, characters or pieces of words (docs/ctc.md).
// There are no Gaussians: its engine is fed log-likelihoods. Called by `senone import tokens`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/import/imported_model.h"

namespace asr {

// A token, and its score in a vocabulary of SentencePiece.
struct TokenList {
  std::vector<std::string> tokens;  // by column of the network's outputs
  std::vector<float> scores;        // [tokens], or empty
};

// Reads a list of tokens, one a line, alone or with its number ("the 3", as k2 and icefall write them), a .vocab of
// SentencePiece, or JSON: a list, an object {token: number} (vocab.json), or tokenizer.json of Hugging Face. White space as a
// token is called <space>.
TokenList read_token_list(const std::string &path);

struct TokensOptions {
  std::string tokens;
  std::string blank, delimiter;  // number or name; "": by the usual names, none
  TokenTopology topology = TokenTopology::kCtc;
  double frame_shift_ms = 0;
  std::string classes;  // file of classes of tokens: "CLASS TOKEN ..."; "": each token is one
  std::string priors;   // file of priors, a number for each token
  double prior_scale = 0, blank_penalty = 0;
};

ImportedModel import_tokens(const TokensOptions &options);

// Returns HMMs of a state a token, which lasts as long as it likes; graphs add the rest (ScoreModel::topology).
HmmSet token_hmms(const std::vector<std::string> &tokens);

// Returns a front end without features for rows that come every frame_shift_ms.
FrontEnd front_end_of_rows(double frame_shift_ms);

}  // namespace asr
