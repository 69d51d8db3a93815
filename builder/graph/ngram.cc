// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/ngram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {

uint32_t NgramModel::find_child(size_t level, uint32_t index, uint32_t word) const {
  if (level + 1 >= levels.size()) return kNoNgram;
  const std::vector<uint32_t> &above = levels[level + 1].word;
  const auto begin = above.begin() + levels[level].first_child[index];
  const auto end = above.begin() + levels[level].first_child[index + 1];
  const auto found = std::lower_bound(begin, end, word);
  return found != end && *found == word ? static_cast<uint32_t>(found - above.begin()) : kNoNgram;
}

uint32_t NgramModel::find_word(const std::string &word) const {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() ? kNoNgram : static_cast<uint32_t>(found - words.begin());
}

namespace {

uint32_t extend(const NgramModel &model, NgramPlace history, uint32_t word) {
  return history.level < 0 ? word : model.find_child(history.level, history.index, word);
}

}  // namespace

NgramPlace back_off(const NgramModel &model, NgramPlace ngram) {
  uint32_t words[kMaxNgramOrder];
  for (NgramPlace at = ngram; at.level >= 0; --at.level) {
    const NgramLevel &level = model.levels[at.level];
    words[at.level] = level.word[at.index];
    at.index = level.history[at.index];
  }
  for (int first = 1; first <= ngram.level; ++first) {
    NgramPlace place{0, words[first]};
    for (int k = first + 1; k <= ngram.level && place.index != kNoNgram; ++k) {
      place = {place.level + 1, model.find_child(place.level, place.index, words[k])};
    }
    if (place.index != kNoNgram) return place;
  }
  return {};
}

double word_cost(const NgramModel &model, NgramPlace history, uint32_t word) {
  double cost = 0;
  for (;; history = back_off(model, history)) {
    const uint32_t index = extend(model, history, word);
    if (index != kNoNgram) return cost + model.levels[history.level + 1].cost[index];
    cost += model.levels[history.level].backoff[history.index];
  }
}

bool predicts_end(const NgramModel &model) {
  constexpr float kImpossible = 90 * 2.302585f;  // cost; models write log10 P = -99 for 0
  const uint32_t end = model.find_word("</s>");
  for (const NgramLevel &level : model.levels) {
    for (size_t i = 0; i < level.size(); ++i) {
      if (level.word[i] == end && level.cost[i] < kImpossible) return true;
    }
  }
  return false;
}

NgramBuilder::NgramBuilder(std::vector<std::string> words, size_t order, std::string source)
    : words_(std::move(words)), rows_(order), source_(std::move(source)) {
  if (order > kMaxNgramOrder) {
    fail(ASR_UNSUPPORTED, "%s: has n-grams of %zu words; up to %zu are possible, give a model of a lower order",
         source_.c_str(), order, kMaxNgramOrder);
  }
}

void NgramBuilder::reserve(size_t level, size_t n_ngrams) {
  rows_[level].words.reserve(n_ngrams * (level + 1));
  rows_[level].cost.reserve(n_ngrams);
  rows_[level].backoff.reserve(n_ngrams);
}

void NgramBuilder::add(size_t level, const uint32_t *words, float cost, float backoff) {
  Rows &rows = rows_[level];
  rows.words.insert(rows.words.end(), words, words + level + 1);
  rows.cost.push_back(cost);
  rows.backoff.push_back(backoff);
}

void NgramBuilder::sort_level(size_t level) {
  Rows &rows = rows_[level];
  const size_t n = rows.cost.size(), width = level + 1;
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const auto row = [&](uint32_t i) { return rows.words.data() + i * width; };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width);
  });
  Rows sorted;
  sorted.words.reserve(rows.words.size());
  for (size_t i = 0; i < n; ++i) {
    const uint32_t from = order[i];
    if (i > 0 && std::equal(row(from), row(from) + width, row(order[i - 1]))) {
      std::string ngram;
      for (size_t k = 0; k < width; ++k) ngram += (k ? " " : "") + words_[row(from)[k]];
      fail(ASR_BAD_FILE, "%s: the n-gram '%s' is listed twice; keep one of them", source_.c_str(), ngram.c_str());
    }
    sorted.words.insert(sorted.words.end(), row(from), row(from) + width);
    sorted.cost.push_back(rows.cost[from]);
    sorted.backoff.push_back(rows.backoff[from]);
  }
  rows = std::move(sorted);
}

// Adds the missing histories of n-grams with `level` + 1 words, their first `level` words, and the history's own suffix. NaN
// marks a cost that finish() fills in. Calls go from the longest n-grams down, so that additions are seen in turn.
void NgramBuilder::add_missing_histories(size_t level) {
  const size_t width = level + 1;
  const std::vector<uint32_t> &longer = rows_[level].words;
  const auto add_all = [&](size_t skip) {  // words skip .. level-1 of every n-gram
    const size_t length = level - skip;
    Rows &rows = rows_[length - 1];
    const size_t n_listed = rows.cost.size();
    const auto listed = [&](const uint32_t *words) {
      size_t low = 0, high = n_listed;
      while (low < high) {
        const size_t middle = (low + high) / 2;
        const uint32_t *row = rows.words.data() + middle * length;
        if (std::lexicographical_compare(row, row + length, words, words + length))
          low = middle + 1;
        else
          high = middle;
      }
      return low < n_listed && std::equal(words, words + length, rows.words.data() + low * length);
    };
    std::vector<uint32_t> missing;
    for (size_t i = 0; i < longer.size(); i += width) {
      const uint32_t *words = longer.data() + i + skip;
      if (i > 0 && std::equal(words, words + length, words - width)) continue;
      if (!listed(words)) missing.insert(missing.end(), words, words + length);
    }
    std::vector<std::vector<uint32_t>> distinct;
    for (size_t i = 0; i < missing.size(); i += length)
      distinct.emplace_back(missing.begin() + i, missing.begin() + i + length);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const std::vector<uint32_t> &words : distinct) add(length - 1, words.data(), std::nanf(""), 0);
    if (!distinct.empty()) sort_level(length - 1);
  };
  if (level >= 1) add_all(0);
  if (level >= 2) add_all(1);
}

NgramModel NgramBuilder::finish() {
  for (size_t level = 0; level < rows_.size(); ++level) sort_level(level);
  for (size_t level = rows_.size(); level-- > 1;) add_missing_histories(level);
  NgramModel model;
  model.words = std::move(words_);
  model.levels.resize(rows_.size());
  for (size_t level = 0; level < rows_.size(); ++level) {
    Rows rows = std::move(rows_[level]);
    NgramLevel &out = model.levels[level];
    const size_t n = rows.cost.size(), width = level + 1;
    out.word.resize(n);
    out.history.assign(n, 0);
    out.first_child.assign(n + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t *words = rows.words.data() + i * width;
      out.word[i] = words[level];
      if (level == 0) continue;
      NgramPlace history{0, words[0]};
      for (size_t k = 1; k < level; ++k) history = {int(k), model.find_child(k - 1, history.index, words[k])};
      out.history[i] = history.index;
      ++model.levels[level - 1].first_child[history.index + 1];
    }
    out.cost = std::move(rows.cost);
    out.backoff = std::move(rows.backoff);
    if (level > 0) {
      std::vector<uint32_t> &begin = model.levels[level - 1].first_child;
      std::partial_sum(begin.begin(), begin.end(), begin.begin());
    }
  }
  for (size_t level = 1; level < model.levels.size(); ++level) {
    NgramLevel &ngrams = model.levels[level];
    for (uint32_t i = 0; i < ngrams.size(); ++i) {
      if (!std::isnan(ngrams.cost[i])) continue;
      const NgramPlace history{int(level) - 1, ngrams.history[i]};
      ngrams.cost[i] = static_cast<float>(model.levels[level - 1].backoff[history.index] +
                                          word_cost(model, back_off(model, history), ngrams.word[i]));
    }
  }
  return model;
}

}  // namespace asr
