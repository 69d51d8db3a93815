// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/prune.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr double kMinMass = 1e-6;  // margin: rounding can raise a history's listed probabilities to a sum of one or more

// The probability mass that a history leaves to unlisted words: by its own probabilities, and by the shorter history's.
struct BackoffMass {
  double own = 1, shorter = 1;

  double weight() const { return std::max(own, kMinMass) / std::max(shorter, kMinMass); }
};

BackoffMass backoff_mass(const NgramModel &model, NgramPlace history, std::vector<double> *shorter_probs) {
  const NgramLevel &ngrams = model.levels[history.level], &longer = model.levels[history.level + 1];
  const NgramPlace shorter = back_off(model, history);
  BackoffMass mass;
  if (shorter_probs != nullptr) shorter_probs->clear();
  for (uint32_t i = ngrams.first_child[history.index]; i < ngrams.first_child[history.index + 1]; ++i) {
    const double shorter_prob = std::exp(-word_cost(model, shorter, longer.word[i]));
    mass.own -= std::exp(-double(longer.cost[i]));
    mass.shorter -= shorter_prob;
    if (shorter_probs != nullptr) shorter_probs->push_back(shorter_prob);
  }
  return mass;
}

// Returns p(h) of every history by the chain rule. Sentences begin as often as they end, so <s> counts as </s>.
std::vector<std::vector<double>> history_probs(const NgramModel &model) {
  const uint32_t start = model.find_word("<s>"), end = model.find_word("</s>");
  std::vector<std::vector<double>> probs(model.order());
  for (size_t level = 0; level < model.order(); ++level) {
    const NgramLevel &ngrams = model.levels[level];
    probs[level].resize(ngrams.size());
    for (uint32_t i = 0; i < ngrams.size(); ++i) {
      const uint32_t like = level == 0 && i == start && end != kNoNgram ? end : i;
      probs[level][i] = std::exp(-double(ngrams.cost[like])) * (level == 0 ? 1 : probs[level - 1][ngrams.history[i]]);
    }
  }
  return probs;
}

// Marks the children of a history to keep.
void judge(const NgramModel &model, NgramPlace history, double history_prob, double threshold,
           const std::vector<std::vector<bool>> &needed, std::vector<bool> *keep, std::vector<double> *shorter_probs) {
  const NgramLevel &ngrams = model.levels[history.level], &longer = model.levels[history.level + 1];
  const BackoffMass mass = backoff_mass(model, history, shorter_probs);
  const uint32_t begin = ngrams.first_child[history.index];
  for (uint32_t i = begin; i < ngrams.first_child[history.index + 1]; ++i) {
    const double prob = std::exp(-double(longer.cost[i])), shorter_prob = (*shorter_probs)[i - begin];
    const BackoffMass without{mass.own + prob, mass.shorter + shorter_prob};
    const double change_of_word = std::log(shorter_prob * without.weight()) + double(longer.cost[i]);
    const double change_of_others =
        mass.shorter > kMinMass ? std::log(without.weight() / mass.weight()) : 0;  // zero without unlisted words
    const double divergence = -history_prob * (prob * change_of_word + std::max(mass.own, 0.0) * change_of_others);
    (*keep)[i] = needed[history.level + 1][i] || std::expm1(divergence) >= threshold;
  }
}

void renew_backoffs(NgramModel *model) {
  for (size_t level = 0; level + 1 < model->order(); ++level) {
    std::vector<float> &backoff = model->levels[level].backoff;
    for (uint32_t i = 0; i < backoff.size(); ++i) {
      const NgramPlace history{int(level), i};
      backoff[i] =
          model->is_history(level, i) ? static_cast<float>(-std::log(backoff_mass(*model, history, nullptr).weight())) : 0.0f;
    }
  }
}

}  // namespace

NgramModel prune(const NgramModel &model, double threshold) {
  const std::vector<std::vector<double>> probs = history_probs(model);
  std::vector<std::vector<bool>> keep(model.order()), needed(model.order());
  for (size_t level = 0; level < model.order(); ++level) {
    keep[level].assign(model.levels[level].size(), true);
    needed[level].assign(model.levels[level].size(), false);
  }
  std::vector<double> shorter_probs;
  for (size_t level = model.order(); level-- > 1;) {
    for (uint32_t i = 0; i < model.levels[level - 1].size(); ++i) {
      judge(model, {int(level) - 1, i}, probs[level - 1][i], threshold, needed, &keep[level], &shorter_probs);
    }
    for (uint32_t i = 0; i < model.levels[level].size(); ++i) {
      if (keep[level][i]) needed[level - 1][model.levels[level].history[i]] = true;
    }
  }
  NgramBuilder builder(model.words, model.order(), "the pruned model");
  std::vector<uint32_t> words;
  for (size_t level = 0; level < model.order(); ++level) {
    for (uint32_t i = 0; i < model.levels[level].size(); ++i) {
      if (!keep[level][i]) continue;
      words.resize(level + 1);
      uint32_t index = i;
      for (size_t k = level + 1; k-- > 0;) {
        words[k] = model.levels[k].word[index];
        index = model.levels[k].history[index];
      }
      builder.add(level, words.data(), model.levels[level].cost[i], model.levels[level].backoff[i]);
    }
  }
  NgramModel pruned = builder.finish();
  renew_backoffs(&pruned);
  return pruned;
}

}  // namespace asr
