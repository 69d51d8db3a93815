// SPDX-License-Identifier: Apache-2.0
// Mdef is CMU Sphinx's model definition: phones, triphones, and the senones and transition matrix of each. It has a text and a
// binary form. Called by sphinx.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asr::sphinx {

struct MdefPhone {
  uint32_t base, left, right;  // numbers of base phones; left and right unused for a base phone itself
  uint8_t position;            // WordPosition
  uint32_t transition_matrix;
  uint32_t sequence;  // its senones are senones[sequence * n_emitting ...]
};

struct Mdef {
  uint32_t n_emitting = 0;  // emitting states per phone
  uint32_t n_senones = 0;
  uint32_t n_transition_matrices = 0;
  std::vector<std::string> base_names;
  std::vector<bool> fillers;      // [base phone]
  std::vector<MdefPhone> phones;  // base phones first, in the order of base_names
  std::vector<uint32_t> senones;

  uint32_t n_base() const { return static_cast<uint32_t>(base_names.size()); }
};

Mdef read_mdef(const std::string &path);  // reads either form and checks every number

Mdef parse_text_mdef(std::string_view text, const std::string &source);
Mdef parse_binary_mdef(std::string_view bytes, const std::string &source);

}  // namespace asr::sphinx
