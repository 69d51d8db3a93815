// SPDX-License-Identifier: Apache-2.0
// The phones of silence that a user names: `senone import kaldi --silence` and `senone graph --silence`.
#pragma once

#include <string>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr {

// Returns the names of --silence: "pau,sp", or a file such as Kaldi's silence.csl (numbers between colons, which
// `symbols` names: the phones.txt that the numbers are of) or silence.txt (names). Throws if a number has no name; without
// symbols the error ends in `remedy`.
std::vector<std::string> read_silence_names(const std::string &names_or_file, const std::vector<std::string> &symbols,
                                            const char *remedy = "give --phones too, or the phones' names");

// Makes these phones fillers, and SIL or sil among them, or the first, the silence of the set. A name with Kaldi's word
// position (SIL_B) is that of its base phone. Returns the phones, without repetition. Throws naming `source` for a phone that
// it lacks.
std::vector<uint32_t> name_silence(HmmSet *set, const std::vector<std::string> &names, const std::string &source);

}  // namespace asr
