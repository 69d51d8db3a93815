// SPDX-License-Identifier: Apache-2.0
// Computes T∘(L∘G) for networks whose outputs are tokens: it gives every token of the lexical graph its frames, and puts the
// blanks of CTC between them (S2 of docs/equations.md). It takes the place of expand_contexts() there, for any number of
// tokens, as they have no context.
#pragma once

#include "builder/graph/context_expansion.h"
#include "core/graph/graph.h"
#include "core/model/score_model.h"

namespace asr {

// How tokens become frames: the phones of the lexical graph are tokens, and a token's pdf is its number.
struct TokenFrames {
  TokenTopology topology = TokenTopology::kNone;  // kNone: the phones have HMMs
  uint32_t blank = kNoToken;
  uint32_t delimiter = kNoToken;  // a token that may come between words, and before the first and behind the last
  bool needs_delimiter = false;   // it must come between words

  bool operator==(const TokenFrames &other) const {
    return topology == other.topology && blank == other.blank && delimiter == other.delimiter &&
           needs_delimiter == other.needs_delimiter;
  }
};

// The first n_roots states of the lexical graph are those of the grammar, where words begin.
Expansion expand_tokens(const LexicalGraph &lexical, uint32_t n_roots, uint32_t n_tokens, const TokenFrames &frames,
                        const BuildProgress &progress);

// Makes the background graph, as make_phone_loop(): any tokens in any order. Its words are the numbers of tokens plus 1.
GraphData make_token_loop(const TokenFrames &frames, uint32_t n_tokens);

}  // namespace asr
