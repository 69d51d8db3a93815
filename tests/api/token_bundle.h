// SPDX-License-Identifier: Apache-2.0
// A bundle of tokens for tests of the C ABI, as `senone import tokens` and `senone graph` make them: the words "low", "mid" and
// "high" are one token each, in any order, with frames of 20 ms.
#pragma once

#include <string>
#include <vector>

namespace asr::test {

constexpr double kTokenFrame_s = 0.02;
constexpr size_t kTokenColumns = 5;  // blank, low, mid, high, and a second column of high

// Returns the bundle's directory, which is written on the first call of a process and removed when it ends.
const std::string &token_bundle();

// Returns log posteriors [n][kTokenColumns] that are clear about every frame, a character for each: '.' is the blank, 'l', 'm'
// and 'h' are the words, 'H' is high by its second column, '?' is the blank with 0.6 and low with the rest.
std::vector<float> token_rows(const std::string &frames);

}  // namespace asr::test
