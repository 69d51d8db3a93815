// SPDX-License-Identifier: Apache-2.0
#include "core/decode/rejection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace asr {
namespace {

// A logistic curve: where both answers are equally likely, and the slope there.
struct Curve {
  double even, slope;
  double operator()(double x) const { return 1 / (1 + std::exp(-slope * (x - even))); }
};

// Fitted to AN4 and LibriSpeech (docs/rejection.md), as functions of the grammar's cost less the background's, for a frame.
// kWhole is of all speech, kStretch of the stretch of an utterance that fits worst, kWord of any word.
constexpr Curve kWhole{-0.07, 17}, kStretch{0.15, 10}, kWord{-0.034, 9.9};

// Same for a keyword, whose excess is summed over its frames (docs/keywords.md).
constexpr Curve kKeyword{-19, 0.35};

// Same for the variation of the sound, in decibels, over the frames with speech and some frames around them.
constexpr Curve kVariation{1.2, 10};
constexpr size_t kAround = 10;

constexpr size_t kMargin = 5;       // frames before and after a word that are compared with it
constexpr size_t kMinBetween = 10;  // frames of speech between words that are a stretch of their own

}  // namespace

void HeardPath::add(const asr_path_arc *arcs, uint64_t n, float acoustic_scale, const TransitionTest &is_silence,
                    const TransitionTest &is_garbage_transition) {
  for (uint64_t i = 0; i < n; ++i) {
    const asr_path_arc &arc = arcs[i];
    if (arc.word != 0) ++n_words;
    if (arc.transition_id != 0) {
      is_speech.push_back(!is_silence(arc.transition_id));
      if (is_garbage_transition) is_garbage.push_back(is_garbage_transition(arc.transition_id));
      costs.push_back(acoustic_scale * arc.acoustic_cost + arc.graph_cost);
    } else if (!costs.empty()) {
      costs.back() += arc.graph_cost;
    }
  }
}

HeardPath heard_path(const asr_path &path, float acoustic_scale, float word_cost, const TransitionTest &is_silence,
                     HeardPath before, const TransitionTest &is_garbage) {
  HeardPath heard = std::move(before);
  heard.add(path.arcs, path.n_arcs, acoustic_scale, is_silence, is_garbage);
  heard.cost = path.total_cost;
  for (size_t i = 0; i < heard.n_words; ++i) heard.cost -= static_cast<double>(word_cost);
  return heard;
}

Comparison::Comparison(const HeardPath &grammar, const Background &background, const std::vector<WordSpan> &words) {
  const HeardPath &other = background.path;
  const size_t n = std::max(grammar.is_speech.size(), other.is_speech.size());
  const auto in_garbage = [&grammar](size_t i) { return i < grammar.is_garbage.size() && grammar.is_garbage[i]; };
  size_t n_speech = 0, first = n, last = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto speaks = [i](const HeardPath &path) { return i < path.is_speech.size() && path.is_speech[i]; };
    if (in_garbage(i) || (!speaks(grammar) && !speaks(other))) continue;
    ++n_speech;
    first = std::min(first, i);
    last = i;
  }
  const std::optional<double> variation_db = background.sound.variation_db(first - std::min(first, kAround), last + kAround);
  if (variation_db) is_speech_ = kVariation(*variation_db);

  const size_t n_both = std::min(grammar.costs.size(), other.costs.size());
  excess_before_.reserve(n_both + 1);
  compared_before_.reserve(n_both + 1);
  excess_before_.push_back(0);
  compared_before_.push_back(0);
  double of_garbage = 0;
  for (size_t i = 0; i < n_both; ++i) {
    const double excess = static_cast<double>(grammar.costs[i]) - static_cast<double>(other.costs[i]);
    if (in_garbage(i)) of_garbage += excess;
    excess_before_.push_back(excess_before_.back() + (in_garbage(i) ? 0 : excess));
    compared_before_.push_back(compared_before_.back() + (in_garbage(i) ? 0 : 1));
  }
  mean_ = (grammar.cost - other.cost - of_garbage) / static_cast<double>(std::max<size_t>(n_speech, 1));
  worst_ = -std::numeric_limits<double>::infinity();
  size_t after = 0;  // frame after the last word
  for (const WordSpan &word : words) {
    worst_ = std::max({worst_, excess(word.begin, word.end), worst_between(other, after, word.begin)});
    after = word.end;
  }
  worst_ = std::max(worst_, worst_between(other, after, n_both));
}

// Returns the mean excess over frames begin..end-1 and the margin around them.
double Comparison::excess(size_t begin, size_t end) const {
  const size_t n = excess_before_.size() - 1, last = std::min(n, end + kMargin);
  const size_t first = std::min(begin - std::min(begin, kMargin), last);
  const size_t n_compared = compared_before_[last] - compared_before_[first];
  return n_compared == 0 ? 0 : (excess_before_[last] - excess_before_[first]) / static_cast<double>(n_compared);
}

// Returns the largest excess of the speech that the background has in frames begin..end-1, where the grammar has no word.
double Comparison::worst_between(const HeardPath &background, size_t begin, size_t end) const {
  double worst = -std::numeric_limits<double>::infinity();
  size_t from = begin;
  end = std::min(end, excess_before_.size() - 1);
  for (size_t i = begin; i < end; ++i) {
    if (!background.is_speech[i] || compared_before_[i] == compared_before_[i + 1]) from = i + 1;
    const bool is_last = i + 1 == end || !background.is_speech[i + 1] || compared_before_[i + 1] == compared_before_[i + 2];
    if (is_last && i + 1 >= from + kMinBetween) worst = std::max(worst, excess(from, i + 1));
  }
  return worst;
}

float Comparison::out_of_grammar() const {
  return static_cast<float>(1 - (1 - std::max(kWhole(mean_), kStretch(worst_))) * is_speech_);
}

float Comparison::confidence(uint32_t begin, uint32_t end) const {
  return static_cast<float>((1 - kWord(excess(begin, end))) * is_speech_);
}

float Comparison::keyword_confidence(uint32_t begin, uint32_t end) const {
  const size_t last = std::min<size_t>(end, compared_before_.size() - 1), first = std::min<size_t>(begin, last);
  const auto n_frames = static_cast<double>(compared_before_[last] - compared_before_[first]);
  return static_cast<float>((1 - kKeyword(n_frames * excess(begin, end))) * is_speech_);
}

}  // namespace asr
