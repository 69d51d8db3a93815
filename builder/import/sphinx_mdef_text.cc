// SPDX-License-Identifier: Apache-2.0
// Reads the text form of the model definition.
#include <unordered_map>

#include "builder/import/sphinx_mdef.h"
#include "builder/import/text_lines.h"
#include "core/base/error.h"

namespace asr::sphinx {
namespace {

using Words = std::vector<std::string_view>;

struct Counts {
  uint32_t base = 0, triphones = 0, states = 0, senones = 0, ci_senones = 0, matrices = 0;
};

// Parses the version and the six lines "N tag".
Counts parse_header(TextLines &lines) {
  Words words;
  if (!lines.next(words) || words.size() != 1 || words[0] != "0.3") {
    lines.fail_line("is not a CMU Sphinx model definition: \"0.3\" or the bytes BMDF are expected at its beginning");
  }
  Counts counts;
  const std::pair<std::string_view, uint32_t *> fields[] = {{"n_base", &counts.base},
                                                            {"n_tri", &counts.triphones},
                                                            {"n_state_map", &counts.states},
                                                            {"n_tied_state", &counts.senones},
                                                            {"n_tied_ci_state", &counts.ci_senones},
                                                            {"n_tied_tmat", &counts.matrices}};
  for (const auto &[tag, value] : fields) {
    if (!lines.next(words) || words.size() != 2 || words[1] != tag) {
      lines.fail_line(format("\"N %s\" is expected", std::string(tag).c_str()).c_str());
    }
    *value = lines.number(words[0], "the count");
  }
  return counts;
}

uint8_t parse_position(std::string_view letter, const TextLines &lines) {
  const size_t code = std::string_view("ibes").find(letter);
  if (letter.size() != 1 || code == std::string_view::npos) lines.fail_line("the word position is not one of i b e s");
  return static_cast<uint8_t>(code);
}

}  // namespace

Mdef parse_text_mdef(std::string_view text, const std::string &source) {
  TextLines lines(text, source);
  const Counts counts = parse_header(lines);
  const uint64_t n_phones = uint64_t{counts.base} + counts.triphones;
  if (counts.base == 0 || counts.states % n_phones != 0 || counts.states / n_phones < 2) {
    fail(ASR_BAD_FILE, "%s: its %u states are not a multiple of its %llu phones", source.c_str(), counts.states,
         static_cast<unsigned long long>(n_phones));
  }
  Mdef mdef;
  mdef.n_emitting = static_cast<uint32_t>(counts.states / n_phones - 1);
  mdef.n_senones = counts.senones;
  mdef.n_transition_matrices = counts.matrices;

  std::unordered_map<std::string_view, uint32_t> base_of;
  const auto base_number = [&](std::string_view name) {
    const auto found = base_of.find(name);
    if (found == base_of.end()) lines.fail_line("names a base phone that was not defined before");
    return found->second;
  };
  Words words;
  for (uint32_t i = 0; i < n_phones; ++i) {
    if (!lines.next(words)) lines.fail_line("the file ends before its last phone");
    if (words.size() != 7 + uint64_t{mdef.n_emitting} || words.back() != "N") {
      lines.fail_line("is not: base left right position attribute matrix senones N");
    }
    MdefPhone phone{};
    if (i < counts.base) {
      if (words[1] != "-" || words[2] != "-" || words[3] != "-") lines.fail_line("is not a base phone");
      if (!base_of.emplace(words[0], i).second) lines.fail_line("defines a base phone again");
      mdef.base_names.emplace_back(words[0]);
      mdef.fillers.push_back(words[4] == "filler");
      phone.base = i;
    } else {
      phone.base = base_number(words[0]);
      phone.left = base_number(words[1]);
      phone.right = base_number(words[2]);
      phone.position = parse_position(words[3], lines);
    }
    phone.transition_matrix = lines.number(words[5], "the transition matrix");
    phone.sequence = i;
    for (uint32_t k = 0; k < mdef.n_emitting; ++k) mdef.senones.push_back(lines.number(words[6 + k], "a senone"));
    mdef.phones.push_back(phone);
  }
  if (lines.next(words)) lines.fail_line("follows after the last phone that the header announces");
  return mdef;
}

}  // namespace asr::sphinx
