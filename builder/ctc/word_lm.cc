// SPDX-License-Identifier: Apache-2.0
#include "builder/ctc/word_lm.h"

#include <algorithm>

namespace asr {
namespace {

// ln of the probability of an unknown word if the model has no <unk>: 1e-100, as KenLM takes it.
constexpr double kNoUnknown = -230.2585092994046;

uint64_t number_of(NgramPlace place) { return (static_cast<uint64_t>(place.level + 1) << 32) | place.index; }
NgramPlace place_of(uint64_t state) { return {static_cast<int>(state >> 32) - 1, static_cast<uint32_t>(state)}; }

}  // namespace

WordLm::WordLm(NgramModel model, const std::vector<std::string> &unigrams, bool has_unigrams)
    : model_(std::move(model)), has_unigrams_(has_unigrams), unknown_(kNoNgram), end_(kNoNgram) {
  ids_.reserve(model_.words.size());
  for (uint32_t i = 0; i < model_.words.size(); ++i) ids_.emplace(model_.words[i], i);
  for (const char *name : {"<unk>", "<UNK>"}) {
    if (unknown_ == kNoNgram) unknown_ = id_of(name);
  }
  end_ = id_of("</s>");
  const uint32_t begin = id_of("<s>");
  if (begin != kNoNgram && model_.order() > 1) start_ = number_of({0, begin});
  for (const std::string &word : unigrams) {
    const uint32_t id = id_of(word);
    if (id != kNoNgram && id != unknown_) unigrams_.push_back(word);
  }
  std::sort(unigrams_.begin(), unigrams_.end());
  unigrams_.erase(std::unique(unigrams_.begin(), unigrams_.end()), unigrams_.end());
}

uint32_t WordLm::id_of(const std::string &word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? kNoNgram : found->second;
}

bool WordLm::is_state(uint64_t state) const {
  const NgramPlace place = place_of(state);
  if (state >> 32 == 0) return state == 0;
  return place.level + 1 < static_cast<int>(model_.order()) && place.index < model_.levels[place.level].size();
}

double WordLm::score(uint64_t state, const std::string &word, uint64_t *next) const {
  const uint32_t id = id_of(word);
  return score_id(state, id == kNoNgram ? unknown_ : id, next);
}

double WordLm::score_end(uint64_t state) const {
  uint64_t next = 0;
  return score_id(state, end_ == kNoNgram ? unknown_ : end_, &next);
}

double WordLm::score_id(uint64_t state, uint32_t word, uint64_t *next) const {
  NgramPlace place = place_of(state);
  double cost = 0;
  for (;;) {
    if (place.level < 0) break;
    const uint32_t child = model_.find_child(place.level, place.index, word);
    if (child != kNoNgram) {
      cost += model_.levels[place.level + 1].cost[child];
      NgramPlace after{place.level + 1, child};
      if (after.level + 1 >= static_cast<int>(model_.order())) after = back_off(model_, after);
      *next = number_of(after);
      return -cost;
    }
    cost += model_.levels[place.level].backoff[place.index];
    place = back_off(model_, place);
  }
  if (word == kNoNgram) {
    *next = 0;
    return kNoUnknown - cost;
  }
  *next = model_.order() > 1 ? number_of({0, word}) : 0;
  return -(cost + model_.levels[0].cost[word]);
}

bool WordLm::is_unknown(const std::string &word) const {
  const uint32_t id = id_of(word);
  if (id == kNoNgram || id == unknown_) return true;
  return !unigrams_.empty() && !std::binary_search(unigrams_.begin(), unigrams_.end(), word);
}

bool WordLm::begins_unknown(const std::string &part) const {
  if (!has_unigrams_) return true;
  const auto found = std::lower_bound(unigrams_.begin(), unigrams_.end(), part);
  return found == unigrams_.end() || found->compare(0, part.size(), part) != 0;
}

}  // namespace asr
