// SPDX-License-Identifier: Apache-2.0
// Makes a whole bundle of a graph that was made elsewhere over the tokens of a network. Called by asr_ctc_bundle.
#pragma once

#include <cstdint>
#include <string>

namespace asr {

struct TokenGraphOptions {
  std::string graph;      // OpenFst, with input labels of token number + 1
  std::string words;      // words.txt
  uint32_t n_tokens = 0;  // of the network; 0: those that the graph has
  uint32_t blank = 0;
  double frame_shift_ms = 10;
};

// Returns the number of tokens. Throws asr::Error.
uint32_t write_token_graph(const TokenGraphOptions &options, const std::string &out);

}  // namespace asr
