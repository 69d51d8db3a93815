// SPDX-License-Identifier: Apache-2.0
// The HMMs that a training from nothing begins with: one for each phone of a dictionary, whatever its neighbours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr::train {

constexpr uint32_t kStatesOfPhone = 3;

// Returns the names of the phones of a dictionary, sorted. Kaldi's endings of word positions (HELLO HH_B AH_I L_I OW_E) are
// taken off if all phones have them. Throws naming `source` if there are none.
std::vector<std::string> phones_of_dictionary(const std::string &text, const std::string &source);

// Returns an HMM of three states, from left to right, for each phone, and for silence, which is SIL or sil among the phones or
// else added as SIL. Phones of noise have the names that Kaldi gives them: SPN, NSN, LAU. They are the same beside any phone.
// State k of phone i has pdf 3 i + k.
HmmSet make_monophones(std::vector<std::string> phones, const std::string &source);

// The phone and the state of its HMM that a pdf belongs to.
struct PhoneState {
  uint32_t phone = kNoPhone;
  uint32_t state = 0;
};

// Returns the phone and state of each pdf of monophones or of the HMMs of a tree (state_tree.h), none of which two share.
std::vector<PhoneState> phone_states(const HmmSet &set);

// Part of the rows that belongs to one phone: frames [begin[k], begin[k + 1]) to its state k.
struct PhoneSegment {
  uint32_t phone;
  uint8_t position;  // WordPosition; kAnyPosition between words
  uint64_t begin[kStatesOfPhone + 1];
};

// An alignment: the pdf of each row, and where in a word its phone is.
struct AlignedRows {
  std::vector<uint32_t> pdfs;
  std::vector<uint8_t> positions;
};

// Returns the phones of the rows [first, first + n) of an utterance.
std::vector<PhoneSegment> phone_segments(const std::vector<PhoneState> &state_of, const AlignedRows &rows, uint64_t first,
                                         uint32_t n);

// Sets the probabilities of staying in each state of each phone to what the segments have (T10).
void estimate_transitions(const std::vector<PhoneSegment> &segments, HmmSet *set);

}  // namespace asr::train
