// SPDX-License-Identifier: Apache-2.0
#include "builder/import/sphinx_dictionary.h"

#include <algorithm>
#include <unordered_set>

#include "builder/import/text_lines.h"
#include "core/base/error.h"

namespace asr::sphinx {

Pronunciations parse_noisedict(const std::string &text, const std::string &source, const HmmSet &hmms,
                               std::vector<std::string> &notes) {
  Pronunciations fillers;
  TextLines lines(text, source);
  std::vector<std::string_view> words;
  std::unordered_set<std::string> phone_names;
  for (const BasePhone &phone : hmms.phones) phone_names.insert(phone.name);
  while (lines.next(words, "##")) {
    if (words[0].substr(0, 2) == ";;") continue;
    if (words.size() < 2) lines.fail_line("has a word without phones");
    const std::string word(words[0]);
    const std::vector<std::string> phones(words.begin() + 1, words.end());
    const auto missing =
        std::find_if(phones.begin(), phones.end(), [&](const std::string &phone) { return phone_names.count(phone) == 0; });
    if (missing == phones.end()) {
      fillers.emplace_back(word, phones);
    } else {
      notes.push_back(source + ": " + word + " is left out: the model has no phone " + *missing);
    }
  }
  if (hmms.silence == kNoPhone) return fillers;
  const std::string silence = hmms.phones[hmms.silence].name;
  for (const char *word : {"<s>", "</s>", "<sil>"}) {
    const bool listed = std::any_of(fillers.begin(), fillers.end(), [&](const auto &filler) { return filler.first == word; });
    if (!listed) fillers.emplace_back(word, std::vector<std::string>{silence});
  }
  return fillers;
}

}  // namespace asr::sphinx
