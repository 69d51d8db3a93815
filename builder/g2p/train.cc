// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/train.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

// Letters and phones of the words as symbols, with the letters' code points.
struct Spellings {
  std::vector<uint32_t> letters;
  std::vector<SpelledWord> words;
};

Spellings spell(const Pronunciations &dictionary, const std::vector<bool> &words, const std::string &source,
                size_t *n_too_long) {
  Spellings out;
  std::vector<std::vector<uint32_t>> letters;
  for (const PronouncedWord &word : dictionary.words) {
    letters.push_back(letters_of(word.word, source));
    out.letters.insert(out.letters.end(), letters.back().begin(), letters.back().end());
  }
  std::sort(out.letters.begin(), out.letters.end());
  out.letters.erase(std::unique(out.letters.begin(), out.letters.end()), out.letters.end());
  if (out.letters.size() >= kNoSymbol || dictionary.phones.size() >= kNoSymbol) {
    fail(ASR_BAD_FILE, "%s: has %zu letters and %zu phones; a model can have up to %u of each", source.c_str(),
         out.letters.size(), dictionary.phones.size(), kNoSymbol - 1u);
  }
  for (size_t i = 0; i < dictionary.words.size(); ++i) {
    if (!words.empty() && !words[i]) continue;
    SpelledWord spelled;
    for (const uint32_t letter : letters[i]) {
      spelled.letters.push_back(
          static_cast<uint16_t>(std::lower_bound(out.letters.begin(), out.letters.end(), letter) - out.letters.begin()));
    }
    for (const auto &pronunciation : dictionary.words[i].pronunciations) {
      if (spelled.letters.size() > kMaxSpelledLetters || pronunciation.size() > kMaxSpelledLetters) {
        ++*n_too_long;
        continue;
      }
      spelled.phones.assign(pronunciation.begin(), pronunciation.end());
      out.words.push_back(spelled);
    }
  }
  return out;
}

uint16_t cost_of(double probability) {
  if (probability <= 0) return 0xffff;
  return static_cast<uint16_t>(std::min(65535.0, std::round(std::max(0.0, -std::log(probability)) * kG2pCostsInNat)));
}

}  // namespace

G2pModel train_g2p(const Pronunciations &dictionary, const std::vector<bool> &words, uint32_t order, const std::string &source,
                   const std::function<void(double share)> &progress, G2pTraining *training) {
  size_t n_too_long = 0;
  Spellings spellings = spell(dictionary, words, source, &n_too_long);
  AlignedWords aligned = align_words(spellings.words, progress);
  if (aligned.words.empty()) {
    fail(ASR_BAD_FILE, "%s: no word's letters can be aligned with its phones; check that its lines are words and their phones",
         source.c_str());
  }
  if (aligned.units.size() + kFirstUnit > kNoSymbol) {
    fail(ASR_BAD_FILE, "%s: letters and phones make %zu units; a model can have up to %u; use a more regular dictionary",
         source.c_str(), aligned.units.size(), kNoSymbol - kFirstUnit);
  }
  training->n_pronunciations = aligned.words.size();
  training->n_left_out = aligned.n_left_out + n_too_long;
  training->n_iterations = static_cast<uint32_t>(aligned.log_likelihoods.size());
  training->log_likelihood = aligned.log_likelihoods.back() / static_cast<double>(aligned.words.size());
  for (auto &word : aligned.words) {
    for (uint32_t &unit : word) unit += kFirstUnit;
  }
  const UnitNgram ngram = estimate_ngram(aligned.words, order);
  G2pModel model;
  model.order = ngram.order;
  model.letters = std::move(spellings.letters);
  model.phones = dictionary.phones;
  model.units.resize(kFirstUnit);
  model.units.insert(model.units.end(), aligned.units.begin(), aligned.units.end());
  model.first_child = ngram.first_child;
  model.unit.assign(ngram.units.begin(), ngram.units.end());
  for (const double probability : ngram.probability) model.cost.push_back(cost_of(probability));
  for (const double backoff : ngram.backoff) model.backoff.push_back(cost_of(backoff));
  model.complete(source);
  return model;
}

}  // namespace asr
