// SPDX-License-Identifier: Apache-2.0
#include "builder/align/dictionary_words.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/error.h"

namespace asr {
namespace {

// Signs that texts have around words. Those within words, as in "don't", belong to them.
constexpr const char *kSigns[] = {".",      ",",      ";",      ":",      "!",      "?",      "\"",     "'",      "(",
                                  ")",      "[",      "]",      "-",      "\u2013", "\u2014", "\u2026", "\u00ab", "\u00bb",
                                  "\u201c", "\u201d", "\u201e", "\u2018", "\u2019", "\u00bf", "\u00a1"};

std::string without_signs(std::string word) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string sign : kSigns) {
      if (word.size() <= sign.size()) continue;
      if (word.compare(0, sign.size(), sign) == 0) {
        word.erase(0, sign.size());
        found = true;
      } else if (word.compare(word.size() - sign.size(), sign.size(), sign) == 0) {
        word.resize(word.size() - sign.size());
        found = true;
      }
    }
  }
  return word;
}

}  // namespace

bool is_of_signs(const std::string &word) {
  const std::string bare = without_signs(word);
  return std::find(std::begin(kSigns), std::end(kSigns), bare) != std::end(kSigns);
}

DictionaryWords::DictionaryWords(const std::string &path, const HmmSet &set, const std::string &g2p, uint32_t n_variants)
    : path_(path), lexicon_(read_text(path, {"a dictionary"}), path, set) {
  if (!g2p.empty()) guessed_.emplace(std::make_shared<G2pModel>(read_g2p_model(g2p)), set, n_variants);
}

std::string DictionaryWords::form_of(const std::string &word) {
  const std::string bare = without_signs(word);
  for (const std::string &as_written : {word, bare}) {
    for (const std::string &form : {as_written, to_lower(as_written), to_upper(as_written)}) {
      if (lexicon_.contains(form)) return form;
    }
  }
  for (const std::string &form : {bare, to_lower(bare), to_upper(bare)}) {
    if (guesses(form)) return form;
  }
  const LeftOut *const left_out = lexicon_.left_out(word);
  const std::string why = left_out == nullptr ? "is not in " + path_ : "cannot be used: " + left_out->why();
  fail(ASR_INVALID_ARGUMENT, "the word '%s' %s; add it there%s, or correct the text", word.c_str(), why.c_str(),
       guessed_ ? "" : ", give a model of senone g2p (asr_aligner_config.g2p)");
}

Lexicon DictionaryWords::lexicon_of(const std::vector<std::string> &forms) const {
  Lexicon lexicon = lexicon_.restricted(forms);
  if (!guessed_) return lexicon;
  std::map<std::string, std::vector<std::vector<uint32_t>>> guessed;
  for (const std::string &form : forms) {
    const auto found = guessed_->words().find(form);
    if (found != guessed_->words().end() && !lexicon_.contains(form)) guessed.insert(*found);
  }
  add_words(&lexicon, guessed, path_);
  return lexicon;
}

}  // namespace asr
